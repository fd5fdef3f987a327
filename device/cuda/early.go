//go:build cuda

package cuda

// #include <cuda.h>
// #include <stdint.h>
// int flashlabLaunchWith(int attribute, CUfunction function, unsigned *sizes, unsigned sharedBytes, CUstream stream, uint64_t *values, int *isMap, void *maps, int count);
import "C"

import (
	"strconv"
	"strings"

	"gorgonia.org/cu"

	"flashlab/device"
)

// CUlaunchAttributeID: a launch has one of them.
const (
	cooperative = 2
	inClusters  = 4
	early       = 6
)

// noSuchCluster is CUDA_ERROR_INVALID_CLUSTER_SIZE, which cuda.h has since CUDA 11.8.
const noSuchCluster = result(912)

// overlaps tells whether GPUs of an architecture can begin a kernel before the one
// ahead of it is done: from Hopper on.
func overlaps(arch string) bool {
	number, err := strconv.Atoi(strings.TrimPrefix(arch, "sm_"))
	return err == nil && number >= 90
}

// launchWith is Launch for a kernel that does its own waiting (device.Launch.Early), while a
// graph is recorded, when the driver knows what comes before; or for one whose blocks wait for
// one another (device.Launch.Cooperative), or of one cluster (device.Launch.Cluster).
func launchWith(fn cu.Function, l device.Launch, stream cu.Stream, values []device.Value) error {
	sizes := [9]C.uint{C.uint(l.Grid.X), C.uint(l.Grid.Y), C.uint(l.Grid.Z), C.uint(l.Block.X), C.uint(l.Block.Y), C.uint(l.Block.Z),
		C.uint(l.Cluster.X), C.uint(l.Cluster.Y), C.uint(l.Cluster.Z)}
	bits, isMap, maps, err := withMaps(values)
	if err != nil {
		return err
	}
	attribute := C.int(early)
	switch {
	case l.Cooperative:
		attribute = cooperative
	case l.Cluster.X > 0:
		attribute = inClusters
	}
	return check(C.CUresult(C.flashlabLaunchWith(attribute, raw(fn), &sizes[0], C.uint(l.Shared), rawStream(stream), &bits[0], &isMap[0], maps, C.int(len(values)))))
}
