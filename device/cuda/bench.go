//go:build cuda

package cuda

// #include <cuda.h>
import "C"

import (
	"fmt"
	"strings"

	"gorgonia.org/cu"

	"flashlab/device"
)

var _ device.Bench = (*gpu)(nil)

// tensorRate is float16 operations of the tensor cores of one processor in one
// cycle, dense, by architecture; an unknown one is taken for the fastest.
func tensorRate(arch string) float64 {
	for prefix, rate := range map[string]float64{
		"sm_70": 1024, "sm_72": 1024, "sm_75": 1024, "sm_80": 2048, "sm_86": 1024, "sm_87": 1024, "sm_89": 2048, "sm_90": 4096,
	} {
		if strings.HasPrefix(arch, prefix) {
			return rate
		}
	}
	return 8192
}

// plainRate is float32 operations of one processor in one cycle; a fused multiply
// and add is two.
func plainRate(arch string) float64 {
	switch arch {
	case "sm_70", "sm_72", "sm_75", "sm_80":
		return 128
	}
	return 256
}

// Limits come from the GPU's clocks and widths.
func (g *gpu) Limits() (device.Limits, error) {
	var l device.Limits
	var clock, memory, bus, l2 C.int
	err := g.now("limits", func() error {
		var d C.CUdevice
		if err := check(C.cuCtxGetDevice(&d)); err != nil {
			return g.failed("cuCtxGetDevice()", err)
		}
		for _, a := range []struct {
			name string
			id   C.CUdevice_attribute
			to   *C.int
		}{
			{"CLOCK_RATE", C.CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &clock},
			{"MEMORY_CLOCK_RATE", C.CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &memory},
			{"GLOBAL_MEMORY_BUS_WIDTH", C.CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &bus},
			{"L2_CACHE_SIZE", C.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2},
		} {
			if err := check(C.cuDeviceGetAttribute(a.to, a.id, d)); err != nil {
				return g.failed("cuDeviceGetAttribute("+a.name+")", err)
			}
		}
		return nil
	})
	perCycle := 1000 * float64(clock) * float64(g.info.Processors) // kHz
	l.FLOPS = perCycle * plainRate(g.info.Arch)
	l.Tensor = perCycle * tensorRate(g.info.Arch)
	l.Bandwidth = 2 * 1000 * float64(memory) * float64(bus) / 8 // both edges of the clock
	l.L2 = int64(l2)
	return l, err
}

// FreeMemory asks the driver.
func (g *gpu) FreeMemory() (free int64, err error) {
	err = g.now("free memory", func() error {
		var err error
		if free, _, err = cu.MemInfo(); err != nil {
			return g.failed("cuMemGetInfo()", err)
		}
		return nil
	})
	return free, err
}

// Copy queues a copy within the GPU.
func (g *gpu) Copy(dst, src device.Memory) error {
	if dst.Bytes != src.Bytes {
		return fmt.Errorf("copy %s to %s: %d bytes to %d", src.Name, dst.Name, src.Bytes, dst.Bytes)
	}
	return g.now("copy "+src.Name, func() error {
		for _, m := range []device.Memory{dst, src} {
			if err := g.holds("copy", m); err != nil {
				return err
			}
		}
		if err := cu.MemcpyDtoDAsync(cu.DevicePtr(dst.Addr), cu.DevicePtr(src.Addr), dst.Bytes, g.stream()); err != nil {
			return g.failed(fmt.Sprintf("copy %s: cuMemcpyDtoDAsync(%d bytes)", src.Name, src.Bytes), err)
		}
		return nil
	})
}
