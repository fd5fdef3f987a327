package corpus

import (
	"flashlab/device"
)

// argument makes what a parameter gets, and names the memory to be copied out
// after the launch, if any.
type argument func(d device.Device, name string) (arg any, result device.Memory, err error)

// number passes an integer or a float.
func number(v any) argument {
	return func(device.Device, string) (any, device.Memory, error) { return v, device.Memory{}, nil }
}

// in is a buffer of n floats that are all different.
func in(n int) argument {
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(i) + 0.5
	}
	return given(data, false)
}

// ints is a buffer of the integers from 0 to n-1.
func ints(n int) argument {
	data := make([]int32, n)
	for i := range data {
		data[i] = int32(i)
	}
	return given(data, false)
}

// zeros is a buffer of n zeros that is copied out.
func zeros[T device.Scalar](n int) argument { return given(make([]T, n), true) }

func given[T device.Scalar](data []T, result bool) argument {
	return func(d device.Device, name string) (any, device.Memory, error) {
		b, err := device.Upload(d, name, data)
		if err != nil || !result {
			return b, device.Memory{}, err
		}
		return b, b.Memory(), nil
	}
}

// out is a buffer that nobody has written, copied out.
func out[T device.Scalar](n int) argument {
	return func(d device.Device, name string) (any, device.Memory, error) {
		b, err := device.Alloc[T](d, name, n)
		return b, b.Memory(), err
	}
}

// fresh is a buffer that nobody has written, and nobody copies.
func fresh(n int) argument {
	return func(d device.Device, name string) (any, device.Memory, error) {
		b, err := device.Alloc[float32](d, name, n)
		return b, device.Memory{}, err
	}
}

// freed is the address of a buffer that was given back.
func freed(n int) argument {
	data := make([]float32, n)
	return func(d device.Device, name string) (any, device.Memory, error) {
		b, err := device.Upload(d, name, data)
		if err != nil {
			return nil, device.Memory{}, err
		}
		return b.Memory().Addr, device.Memory{}, b.Free(d)
	}
}
