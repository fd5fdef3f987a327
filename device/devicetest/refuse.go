package devicetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func reportsCompileErrors(t *testing.T, b bench) {
	const undeclared = `extern "C" __global__ void fill(float *out) {
    int i = threadIdx.x;
    out[i] = 1.0f;
    out[i] += nowhere;
}`
	for _, c := range []struct {
		name, text string
		line       int
		says       string
	}{
		{"undeclared name", undeclared, 4, "nowhere"},
		{"syntax", strings.Replace(undeclared, "1.0f", "", 1), 3, "expect"},
		{"kernel without comma", "\n" + strings.Replace(undeclared, "float *out", "float *out int n", 1), 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := b.Compile(device.Source{Name: "kernels.cu", Text: c.text})
			require.Error(t, err)
			require.Nil(t, m)
			var wrong *device.CompileError
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, "kernels.cu", wrong.File)
			require.NotEmpty(t, wrong.Diagnostics, "no message was read from:\n%s", wrong.Output)
			first := wrong.Diagnostics[0]
			assert.Equal(t, "kernels.cu", first.File)
			assert.Equal(t, c.line, first.Line, "in: %s", err)
			assert.Equal(t, "error", first.Severity)
			assert.Contains(t, first.Text, c.says)
		})
	}
}

func reportsUnknownKernels(t *testing.T, b bench) {
	_, err := b.module.Kernel("blocksum")
	require.Error(t, err)
	for _, want := range []string{"kernels.cu", "blocksum", "blockSum", "add"} {
		assert.Contains(t, err.Error(), want)
	}
}

func refusesLaunches(t *testing.T, b bench) {
	add := b.kernel(t, "add")
	x, y, sum := alloc[float32](t, b, "x", 4), alloc[float32](t, b, "y", 4), alloc[float32](t, b, "sum", 4)
	whole := alloc[int32](t, b, "whole", 4)
	var none device.Buffer[float32]
	one := device.Launch{Grid: device.D1(1), Block: device.D1(4)}
	for _, c := range []struct {
		name   string
		launch device.Launch
		args   []any
		says   []string
	}{
		{"too few arguments", one, []any{x, y, sum}, []string{"add", "3", "4"}},
		{"too many arguments", one, []any{x, y, sum, 4, 5}, []string{"5", "4"}},
		{"number for pointer", one, []any{x, 1, sum, 4}, []string{"argument 2", "float *", "integer"}},
		{"buffer for number", one, []any{x, y, sum, x}, []string{"argument 4", "int", "buffer"}},
		{"float for int", one, []any{x, y, sum, 4.0}, []string{"argument 4", "float"}},
		{"wrong elements", one, []any{x, y, whole, 4}, []string{"argument 3", "whole", "int"}},
		{"never allocated", one, []any{none, y, sum, 4}, []string{"argument 1", "never allocated"}},
		{"too wide", one, []any{x, y, sum, int64(1) << 40}, []string{"fit", "32"}},
		{"a string", one, []any{x, y, sum, "4"}, []string{"string"}},
		{"no blocks", device.Launch{Grid: device.D1(0), Block: device.D1(4)}, []any{x, y, sum, 4}, []string{"grid", "0"}},
		{"no threads", device.Launch{Grid: device.D1(1)}, []any{x, y, sum, 4}, []string{"block", "0"}},
		{"2000 threads", device.Launch{Grid: device.D1(1), Block: device.D1(2000)}, []any{x, y, sum, 4}, []string{"2000", "1024"}},
		{"300 KB shared", device.Launch{Grid: device.D1(1), Block: device.D1(4), Shared: 300 << 10}, []any{x, y, sum, 4}, []string{"307200", "shared"}},
		{"grid too tall", device.Launch{Grid: device.D2(1, 70000), Block: device.D1(4)}, []any{x, y, sum, 4}, []string{"70000", "65535"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := b.Launch(add, c.launch, c.args...)
			require.ErrorIs(t, err, device.ErrLaunch)
			for _, want := range c.says {
				assert.Contains(t, err.Error(), want)
			}
		})
	}
	require.NoError(t, b.Sync(), "a refused launch leaves nothing behind")
}

// Fault runs a kernel that writes far outside any allocation, on a separate
// device. Either the launch itself or the next Sync reports it.
func Fault(t *testing.T, open func(t *testing.T) device.Device) {
	b := start(t, open)
	out, err := device.Alloc[float32](b, "out", 16) // not freed: the device is lost with it
	require.NoError(t, err)
	err = b.Launch(b.kernel(t, "poke"), device.Launch{Grid: device.D1(1), Block: device.D1(1)}, out, int64(1)<<38)
	if err == nil {
		err = b.Sync()
	}
	require.ErrorIs(t, err, device.ErrFault)
	var fault *device.FaultError
	require.ErrorAs(t, err, &fault)
	assert.Equal(t, "poke", fault.Kernel)
	assert.NotEmpty(t, fault.Reason)
}
