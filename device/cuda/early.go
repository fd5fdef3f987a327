//go:build cuda

package cuda

// #include <cuda.h>
// #include <stdint.h>
// int flashlabLaunchEarly(CUfunction function, unsigned *sizes, unsigned sharedBytes, CUstream stream, uint64_t *values, int count);
import "C"

import (
	"strconv"
	"strings"

	"gorgonia.org/cu"

	"flashlab/device"
)

// waits is what a kernel calls that can be launched early: CUDA's own function,
// which returns when all that was launched before has finished. What a kernel does
// ahead of it, such as asking for weights, overlaps with the end of the kernel
// before it ("programmatic dependent launch", from Hopper on).
const waits = "cudaGridDependencySynchronize"

// launchesEarly tells whether the kernels of a file wait by themselves: one that
// names that function calls it in every kernel and every block.
func launchesEarly(src device.Source, arch string) bool {
	number, err := strconv.Atoi(strings.TrimPrefix(arch, "sm_"))
	return err == nil && number >= 90 && strings.Contains(device.Code(src.Text), waits)
}

// launchEarly is Launch for such a kernel, while a graph is recorded: there the
// driver knows what comes before.
func launchEarly(fn cu.Function, l device.Launch, stream cu.Stream, values []device.Value) error {
	sizes := [6]C.uint{C.uint(l.Grid.X), C.uint(l.Grid.Y), C.uint(l.Grid.Z), C.uint(l.Block.X), C.uint(l.Block.Y), C.uint(l.Block.Z)}
	bits := make([]C.uint64_t, len(values)+1) // one more: there may be no arguments
	for i, v := range values {
		bits[i] = C.uint64_t(v.Bits)
	}
	return check(C.CUresult(C.flashlabLaunchEarly(raw(fn), &sizes[0], C.uint(l.Shared), rawStream(stream), &bits[0], C.int(len(values)))))
}
