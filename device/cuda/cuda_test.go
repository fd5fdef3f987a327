//go:build cuda

package cuda

import (
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/devicetest"
)

// open opens GPU 0. With the tag cuda, a machine without one is a failure.
func open(t *testing.T) device.Device {
	t.Helper()
	d, err := Open(Options{})
	require.NoError(t, err)
	return d
}

func TestConformance(t *testing.T) {
	devicetest.Suite{FaultIsFinal: true}.Run(t, open)
}

func TestInfo(t *testing.T) {
	d := open(t)
	defer d.Close()
	info := d.Info()
	t.Logf("%+v", info)
	assert.Equal(t, device.CUDA, info.Kind)
	assert.Regexp(t, `^sm_\d+$`, info.Arch)
	assert.NotEmpty(t, info.DriverVersion)
	assert.NotEmpty(t, info.ToolkitVersion)
}

const source = `
extern "C" __global__ void __launch_bounds__(128) twice(float *x) { x[threadIdx.x] *= 2; }

extern "C" __global__ void __launch_bounds__(128) held(float *x) {
    __shared__ float all[4096]; // 16 KB
    all[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = all[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void spoil(float *x, long long at) { x[at] = 1; }

#define int long long
extern "C" __global__ void disguised(int n) {}
#undef int
`

func load(t *testing.T, d device.Device, name string) device.Kernel {
	t.Helper()
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: source})
	require.NoError(t, err)
	k, err := m.Kernel(name)
	require.NoError(t, err)
	return k
}

func one(threads int) device.Launch {
	return device.Launch{Grid: device.D1(1), Block: device.D1(threads)}
}

// works fails the test where d does not compute.
func works(t *testing.T, d device.Device) {
	t.Helper()
	x, err := device.Upload(d, "x", []float32{1, 2, 3})
	require.NoError(t, err)
	require.NoError(t, d.Launch(load(t, d, "twice"), one(3), x))
	got, err := x.CopyOut(d)
	require.NoError(t, err)
	assert.Equal(t, []float32{2, 4, 6}, got)
	require.NoError(t, x.Free(d))
}

func TestWhatTheKernelAllows(t *testing.T) {
	d := open(t)
	defer d.Close()
	x, err := device.Alloc[float32](d, "x", 1024)
	require.NoError(t, err)

	err = d.Launch(load(t, d, "twice"), one(256), x)
	require.ErrorIs(t, err, device.ErrLaunch)
	assert.ErrorContains(t, err, "128", "its launch bounds")

	l := one(64)
	l.Shared = d.Info().MaxShared - 8<<10 // fits alone, but not beside the kernel's own 16 KB
	err = d.Launch(load(t, d, "held"), l, x)
	require.ErrorIs(t, err, device.ErrLaunch)
	l.Shared = d.Info().MaxShared - 16<<10
	require.NoError(t, d.Launch(load(t, d, "held"), l, x))

	require.NoError(t, x.Free(d))
	err = d.Launch(load(t, d, "twice"), one(3), x)
	require.ErrorIs(t, err, device.ErrLaunch)
	assert.ErrorContains(t, err, "freed")
	works(t, d)
}

func TestParametersInDisguise(t *testing.T) {
	d := open(t)
	defer d.Close()
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: source})
	require.NoError(t, err)
	_, err = m.Kernel("disguised")
	if err == nil {
		t.Skip("this driver does not tell the sizes of parameters")
	}
	assert.ErrorContains(t, err, "8 bytes")
}

func TestOpenChecks(t *testing.T) {
	for _, ordinal := range []int{-1, 1000} {
		_, err := Open(Options{Ordinal: ordinal})
		require.ErrorIs(t, err, device.ErrNoDevice)
	}
	d := open(t)
	require.NoError(t, d.Close())
	require.NoError(t, d.Close(), "closing twice")
	_, err := d.Malloc("late", 4)
	assert.ErrorContains(t, err, "closed")
}

func TestTwoDevicesAndManyGoroutines(t *testing.T) {
	first, second := open(t), open(t)
	defer first.Close()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			d := []device.Device{first, second}[i%2]
			for range 20 {
				works(t, d)
			}
		})
	}
	all.Wait()
	require.ErrorIs(t, first.Launch(load(t, second, "twice"), one(3)), device.ErrLaunch, "a kernel of another device")
	require.NoError(t, second.Close())
	works(t, first)
}

// child marks the process in which kernels may go wrong.
const child = "FLASHLAB_FAULT_CHILD"

func TestFaultStaysInItsProcess(t *testing.T) {
	d := open(t)
	defer d.Close()
	works(t, d)
	for _, name := range []string{"TestChildFault", "TestChildFaultLasts", "TestChildFaultInGraph"} {
		cmd := exec.Command(os.Args[0], "-test.run=^"+name+"$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS: "+name, "%s", out)
	}
	works(t, d)
}

func inChild(t *testing.T) {
	t.Helper()
	if os.Getenv(child) == "" {
		t.Skip("runs in a separate process, see TestFaultStaysInItsProcess")
	}
}

func TestChildFault(t *testing.T) {
	inChild(t)
	devicetest.Fault(t, open)
}

// TestChildFaultLasts: every later call says what happened, and Close returns.
func TestChildFaultLasts(t *testing.T) {
	inChild(t)
	d := open(t)
	x, err := device.Upload(d, "x", []float32{1, 2, 3})
	require.NoError(t, err)
	twice, spoil := load(t, d, "twice"), load(t, d, "spoil")
	require.NoError(t, d.Launch(twice, one(3), x))
	require.NoError(t, d.Sync())
	require.NoError(t, d.Launch(spoil, one(1), x, int64(1)<<38))
	_, err = x.CopyOut(d)
	require.ErrorIs(t, err, device.ErrFault)
	assert.ErrorContains(t, err, "spoil")
	for what, err := range map[string]error{
		"launch": d.Launch(twice, one(3), x), "sync": d.Sync(), "free": x.Free(d), "set": d.Set(x.Memory(), 0),
	} {
		assert.ErrorIs(t, err, device.ErrFault, what)
		assert.ErrorContains(t, err, "spoil", what)
	}
	require.NoError(t, d.Close())
}
