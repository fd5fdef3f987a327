//go:build cuda

package cuda

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"gorgonia.org/cu"

	"flashlab/device"
)

// Built says whether this program can use a GPU at all.
const Built = true

// gpu is an open GPU. Any goroutine may call it.
//
// CUDA keeps a current context for each thread of the operating system, and Go
// moves goroutines between threads. So every call locks its thread and makes
// the context current there. (One goroutine for all calls would do the same, but
// handing work over to it costs many times what a launch does.)
type gpu struct {
	info    device.Info
	compile func(device.Source, string) ([]byte, []device.Signature, error)

	mu        sync.Mutex // guards all below, and the order of calls
	context   cu.CUContext
	closed    bool
	fault     error // set for good when a kernel was stopped
	blocks    blocks
	pending   []string            // kernels launched since the last time all had finished
	recording *recording          // nil while no graph is recorded
	graphs    map[*graph]struct{} // those that are not closed
	library   cublas
	aside     *cu.Stream // CopyOutAside's, from its first call on
}

// Open opens a GPU in a new context.
func Open(o Options) (device.Device, error) {
	if err := initError(); err != nil {
		return nil, fmt.Errorf("%w: cuInit: %v: %s", device.ErrNoDevice, err, initHint(err))
	}
	count, err := cu.NumDevices()
	if err != nil {
		return nil, failed("cuDeviceGetCount()", err)
	}
	if o.Ordinal < 0 || o.Ordinal >= count {
		return nil, fmt.Errorf("%w: GPU %d was asked for, and there are %d, counted from 0 (CUDA_VISIBLE_DEVICES may hide some)", device.ErrNoDevice, o.Ordinal, count)
	}
	handle, err := cu.GetDevice(o.Ordinal)
	if err != nil {
		return nil, failed(fmt.Sprintf("cuDeviceGet(%d)", o.Ordinal), err)
	}
	g := &gpu{graphs: map[*graph]struct{}{}}
	if g.info, err = describe(handle); err != nil {
		return nil, err
	}
	g.compile, g.info.ToolkitVersion = o.compiler()

	runtime.LockOSThread() // making a context makes it current, too
	defer runtime.UnlockOSThread()
	if g.context, err = handle.MakeContext(cu.SchedAuto); err != nil {
		return nil, failed(fmt.Sprintf("cuCtxCreate(GPU %d, %s)", o.Ordinal, g.info.Name), err)
	}
	return g, nil
}

func initHint(err error) string {
	switch fmt.Sprint(err) {
	case "CUDA_ERROR_NO_DEVICE":
		return "the driver sees no GPU (is CUDA_VISIBLE_DEVICES empty, or a container started without --gpus?)"
	case "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE":
		return "libcuda.so.1 does not belong to the installed driver: see nvidia-smi"
	case "CUDA_ERROR_STUB_LIBRARY":
		return "libcuda.so.1 is the toolkit's stub, not the driver's: take its folder out of LD_LIBRARY_PATH"
	case "CUDA_ERROR_NOT_INITIALIZED":
		return "libcuda.so.1 could not be loaded: is the NVIDIA driver installed?"
	}
	return "see whether nvidia-smi works; it comes with the NVIDIA driver"
}

// describe asks a GPU for what Info tells of it.
func describe(d cu.Device) (device.Info, error) {
	info := device.Info{Kind: device.CUDA}
	var err error
	if info.Name, err = d.Name(); err != nil {
		return info, failed("cuDeviceGetName()", err)
	}
	info.Name = strings.TrimSpace(info.Name)
	var major, minor int
	for _, a := range []struct {
		name string
		id   cu.DeviceAttribute
		to   *int
	}{
		{"COMPUTE_CAPABILITY_MAJOR", cu.ComputeCapabilityMajor, &major},
		{"COMPUTE_CAPABILITY_MINOR", cu.ComputeCapabilityMinor, &minor},
		{"MULTIPROCESSOR_COUNT", cu.MultiprocessorCount, &info.Processors},
		{"WARP_SIZE", cu.WarpSize, &info.WarpSize},
		{"MAX_THREADS_PER_BLOCK", cu.MaxThreadsPerBlock, &info.MaxThreads},
	} {
		if *a.to, err = d.Attribute(a.id); err != nil {
			return info, failed("cuDeviceGetAttribute("+a.name+")", err)
		}
	}
	if info.MaxShared, err = maxShared(d); err != nil {
		return info, failed("cuDeviceGetAttribute(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)", err)
	}
	if info.MemoryBytes, err = d.TotalMem(); err != nil {
		return info, failed("cuDeviceTotalMem()", err)
	}
	info.Arch = fmt.Sprintf("sm_%d%d", major, minor)
	version := cu.Version()
	info.DriverVersion = fmt.Sprintf("CUDA %d.%d", version/1000, version%1000/10)
	if release := driverRelease(); release != "" {
		info.DriverVersion = release + ", " + info.DriverVersion
	}
	return info, nil
}

// Info describes the GPU.
func (g *gpu) Info() device.Info { return g.info }

// do runs calls of the driver with the context current. A device that a kernel
// was stopped on only repeats that.
func (g *gpu) do(calls func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fmt.Errorf("%s is closed", g.info.Name)
	}
	if g.fault != nil {
		return g.fault
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(g.context); err != nil {
		return g.failed("cuCtxSetCurrent()", err)
	}
	return calls()
}

// now is do for calls that cannot be part of a graph.
func (g *gpu) now(call string, calls func() error) error {
	return g.do(func() error {
		if err := g.recording.refuse(call); err != nil {
			return err
		}
		return calls()
	})
}

// Sync waits for all that was queued.
func (g *gpu) Sync() error {
	return g.now("sync", func() error {
		if err := cu.Synchronize(); err != nil {
			return g.failed("cuCtxSynchronize()", err)
		}
		g.finished()
		return nil
	})
}

// Close destroys the context, and with it all that was allocated.
func (g *gpu) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if g.fault == nil && cu.SetCurrentContext(g.context) == nil {
		for made := range g.graphs {
			_ = made.destroy()
		}
	}
	if err := g.context.Destroy(); err != nil && g.fault == nil {
		return failed("cuCtxDestroy()", err)
	}
	return nil
}
