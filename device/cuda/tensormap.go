//go:build cuda

package cuda

// #include <cuda.h>
// #include <stdint.h>
// int flashlabEncodeTiled(void *map, int element, int rank, uint64_t address, const uint64_t *sizes,
//                         const uint64_t *strides, const uint32_t *box, int swizzle);
// int flashlabLaunchMaps(CUfunction function, unsigned *sizes, unsigned sharedBytes, CUstream stream, uint64_t *values, int *isMap, void *maps, int count);
import "C"

import (
	"fmt"
	"slices"
	"unsafe"

	"gorgonia.org/cu"

	"flashlab/device"
)

// swizzles are CUtensorMapSwizzle's numbers, by bytes.
var swizzles = map[int]C.int{0: 0, 32: 1, 64: 2, 128: 3}

const mapBytes = 128

func hasMaps(values []device.Value) bool {
	return slices.ContainsFunc(values, func(v device.Value) bool { return v.Map != nil })
}

// launchMaps is Launch for a kernel that takes tensor maps, each made anew: the cu package
// passes eight bytes an argument.
func launchMaps(fn cu.Function, l device.Launch, stream cu.Stream, values []device.Value) error {
	bits, isMap, maps, err := withMaps(values)
	if err != nil {
		return err
	}
	sizes := [6]C.uint{C.uint(l.Grid.X), C.uint(l.Grid.Y), C.uint(l.Grid.Z), C.uint(l.Block.X), C.uint(l.Block.Y), C.uint(l.Block.Z)}
	return check(C.CUresult(C.flashlabLaunchMaps(raw(fn), &sizes[0], C.uint(l.Shared), rawStream(stream), &bits[0], &isMap[0], maps, C.int(len(values)))))
}

// withMaps lays out arguments: 8 bytes each, or a map, mapBytes apart. There is room for one more,
// as there may be none.
func withMaps(values []device.Value) (bits []C.uint64_t, isMap []C.int, maps unsafe.Pointer, err error) {
	room := make([]byte, mapBytes*(len(values)+1)+64)
	from := (64 - uintptr(unsafe.Pointer(&room[0]))%64) % 64
	bits, isMap = make([]C.uint64_t, len(values)+1), make([]C.int, len(values)+1)
	for i, v := range values {
		bits[i] = C.uint64_t(v.Bits)
		if v.Map == nil {
			continue
		}
		isMap[i] = 1
		if err := encode(*v.Map, unsafe.Pointer(&room[from+uintptr(mapBytes*i)])); err != nil {
			return nil, nil, nil, err
		}
	}
	return bits, isMap, unsafe.Pointer(&room[from]), nil
}

// encode asks the driver for a CUtensorMap.
func encode(m device.TensorMap, at unsafe.Pointer) error {
	if err := m.Check(); err != nil {
		return err
	}
	var sizes, strides [5]C.uint64_t
	var box [5]C.uint32_t
	for i, n := range m.Sizes {
		sizes[i], box[i] = C.uint64_t(n), C.uint32_t(m.Box[i])
	}
	for i, n := range m.Strides {
		strides[i] = C.uint64_t(n)
	}
	err := check(C.CUresult(C.flashlabEncodeTiled(at, C.int(m.Element), C.int(len(m.Sizes)), C.uint64_t(m.Memory.Addr), &sizes[0], &strides[0], &box[0], swizzles[m.Swizzle])))
	if r, ok := err.(result); ok && r == C.CUDA_ERROR_NOT_SUPPORTED {
		return fmt.Errorf("a tensor map of %q: this GPU or its driver has no copy engine for tensors (TMA): that takes Hopper and CUDA 12", m.Memory.Name)
	}
	if err != nil {
		return fmt.Errorf("a tensor map of %q: cuTensorMapEncodeTiled: %w", m.Memory.Name, err)
	}
	return nil
}
