package device

import (
	"fmt"
	"math"
	"unsafe"
)

// Scalar is an element type that kernels know.
type Scalar interface {
	~float32 | ~float64 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~uint16 | ~uint8 | ~int8
}

// Buffer is device memory that holds elements of one type.
type Buffer[T Scalar] struct{ mem Memory }

// Alloc reserves n elements; their values are undefined.
func Alloc[T Scalar](q Queue, name string, n int) (Buffer[T], error) {
	if n <= 0 {
		return Buffer[T]{}, fmt.Errorf("alloc %s: %d elements: want at least 1", name, n)
	}
	if int64(n) > math.MaxInt64/sizeOf[T]() {
		return Buffer[T]{}, fmt.Errorf("alloc %s: %d elements: %w", name, n, ErrOutOfMemory)
	}
	m, err := q.Malloc(name, int64(n)*sizeOf[T]())
	if err != nil {
		return Buffer[T]{}, err
	}
	return Buffer[T]{m}, nil
}

// Upload allocates a buffer and fills it with data.
func Upload[T Scalar](q Queue, name string, data []T) (Buffer[T], error) {
	b, err := Alloc[T](q, name, len(data))
	if err != nil {
		return Buffer[T]{}, err
	}
	if err := b.CopyIn(q, data); err != nil {
		_ = b.Free(q) // the copy's error tells more
		return Buffer[T]{}, err
	}
	return b, nil
}

// BufferOf views untyped memory as elements of one type.
func BufferOf[T Scalar](m Memory) (Buffer[T], error) {
	if m.Bytes%sizeOf[T]() != 0 {
		return Buffer[T]{}, fmt.Errorf("%s: %d bytes are no whole number of %d-byte elements", m.Name, m.Bytes, sizeOf[T]())
	}
	return Buffer[T]{m}, nil
}

// Len is the number of elements.
func (b Buffer[T]) Len() int { return int(b.mem.Bytes / sizeOf[T]()) }

// Memory is the untyped block.
func (b Buffer[T]) Memory() Memory { return b.mem }

// Name is what error messages call the buffer.
func (b Buffer[T]) Name() string { return b.mem.Name }

// Slice is the part [from, to) of the buffer; it shares the memory.
func (b Buffer[T]) Slice(from, to int) (Buffer[T], error) {
	if from < 0 || to > b.Len() || from >= to {
		return Buffer[T]{}, fmt.Errorf("%s[%d:%d]: the buffer holds %d elements", b.mem.Name, from, to, b.Len())
	}
	size := sizeOf[T]()
	return Buffer[T]{Memory{b.mem.Addr + uint64(int64(from)*size), int64(to-from) * size, b.mem.Name}}, nil
}

// CopyIn copies data, exactly Len elements, to the device.
func (b Buffer[T]) CopyIn(q Queue, data []T) error {
	if len(data) != b.Len() {
		return fmt.Errorf("copy to %s: got %d elements, want %d", b.mem.Name, len(data), b.Len())
	}
	return q.CopyIn(b.mem, bytesOf(data))
}

// CopyOut copies the whole buffer from the device.
func (b Buffer[T]) CopyOut(q Queue) ([]T, error) {
	data := make([]T, b.Len())
	return data, q.CopyOut(bytesOf(data), b.mem)
}

// Free gives the memory back.
func (b Buffer[T]) Free(q Queue) error { return q.Free(b.mem) }

// devicePointer makes a Buffer an argument of Launch.
func (b Buffer[T]) devicePointer() (Memory, string) { return b.mem, elemName[T]() }

func sizeOf[T Scalar]() int64 {
	var zero T
	return int64(unsafe.Sizeof(zero))
}

// bytesOf views numbers as bytes, without copying (little-endian, as GPUs are).
func bytesOf[T Scalar](data []T) []byte {
	if len(data) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), len(data)*int(sizeOf[T]()))
}

// elemName is the CUDA type that a kernel's parameter points to.
func elemName[T Scalar]() string {
	var zero T
	switch any(zero).(type) {
	case float32:
		return "float"
	case float64:
		return "double"
	case int32:
		return "int"
	case uint32:
		return "unsigned int"
	case int64:
		return "long long"
	case uint64:
		return "unsigned long long"
	case Float16:
		return "half"
	case BFloat16:
		return "__nv_bfloat16"
	case int8:
		return "char"
	}
	return "" // plain 16- and 8-bit words, and pairs of int4, can be several CUDA types: not checked
}
