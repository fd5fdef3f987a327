//go:build cuda

package cuda

// #include <cuda.h>
// #include <stdint.h>
// int flashlabLaunchWith(int cooperative, CUfunction function, unsigned *sizes, unsigned sharedBytes, CUstream stream, uint64_t *values, int count);
import "C"

import (
	"strconv"
	"strings"

	"gorgonia.org/cu"

	"flashlab/device"
)

// overlaps tells whether GPUs of an architecture can begin a kernel before the one
// ahead of it is done: from Hopper on.
func overlaps(arch string) bool {
	number, err := strconv.Atoi(strings.TrimPrefix(arch, "sm_"))
	return err == nil && number >= 90
}

// launchWith is Launch for a kernel that does its own waiting (device.Launch.Early), while a
// graph is recorded, when the driver knows what comes before; or for one whose blocks wait for
// one another (device.Launch.Cooperative).
func launchWith(fn cu.Function, l device.Launch, stream cu.Stream, values []device.Value) error {
	sizes := [6]C.uint{C.uint(l.Grid.X), C.uint(l.Grid.Y), C.uint(l.Grid.Z), C.uint(l.Block.X), C.uint(l.Block.Y), C.uint(l.Block.Z)}
	bits := make([]C.uint64_t, len(values)+1) // one more: there may be no arguments
	for i, v := range values {
		bits[i] = C.uint64_t(v.Bits)
	}
	cooperative := C.int(0)
	if l.Cooperative {
		cooperative = 1
	}
	return check(C.CUresult(C.flashlabLaunchWith(cooperative, raw(fn), &sizes[0], C.uint(l.Shared), rawStream(stream), &bits[0], C.int(len(values)))))
}
