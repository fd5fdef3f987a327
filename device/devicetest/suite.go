// Package devicetest holds the one suite that every device.Device passes, so
// that a kernel which runs in the simulator meets the same rules on a GPU.
package devicetest

import (
	_ "embed"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/device"
)

//go:embed kernels.cu
var kernels string

// Suite is the conformance suite.
type Suite struct {
	// FaultIsFinal says that a kernel's bad address ends this process's use
	// of the device, as on CUDA. Run then leaves that part out: call Fault in
	// a separate process.
	FaultIsFinal bool
}

// Run checks a device that a fault does not end.
func Run(t *testing.T, open func(t *testing.T) device.Device) {
	t.Helper()
	Suite{}.Run(t, open)
}

// Run checks everything. It opens one device for the harmless parts, as
// opening may be slow, and two for the fault.
func (s Suite) Run(t *testing.T, open func(t *testing.T) device.Device) {
	t.Helper()
	if !t.Run("Works", func(t *testing.T) { works(t, start(t, open)) }) || s.FaultIsFinal {
		return
	}
	t.Run("Fault", func(t *testing.T) { Fault(t, open) })
	t.Run("AfterFault", func(t *testing.T) { adds(t, start(t, open)) })
}

// bench is an open device with the suite's kernels, and the test that uses it.
type bench struct {
	device.Device
	module device.Module
}

// start opens a device that is closed with the test.
func start(t *testing.T, open func(t *testing.T) device.Device) bench {
	t.Helper()
	d := open(t)
	t.Cleanup(func() { _ = d.Close() })
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: kernels})
	require.NoError(t, err)
	return bench{d, m}
}

// works runs the parts that leave the device as it was.
func works(t *testing.T, b bench) {
	for _, part := range []struct {
		name string
		run  func(*testing.T, bench)
	}{
		{"Info", describes},
		{"RoundTrips", roundTrips},
		{"Slices", slices},
		{"Set", sets},
		{"Poison", poisons},
		{"CopyChecks", refusesCopies},
		{"FreeChecks", refusesFrees},
		{"OutOfMemory", runsOutOfMemory},
		{"Add", adds},
		{"Indices", countsIndices},
		{"StaticShared", sumsBlocks},
		{"DynamicShared", reverses},
		{"ConstantAndHelper", looksUp},
		{"Arguments", passesArguments},
		{"Structs", passesStructs},
		{"InOrder", keepsOrder},
		{"Defines", defines},
		{"MacrosWriteKernels", macrosWriteKernels},
		{"OneOfTwo", picksADefinition},
		{"Named", namedKernelsRun},
		{"NamedRefusals", refusesNames},
		{"CompileError", reportsCompileErrors},
		{"UnknownKernel", reportsUnknownKernels},
		{"LaunchChecks", refusesLaunches},
		{"Events", keepsTime},
		{"Graphs", replaysGraphs},
		{"GraphFills", recordsFills},
		{"GraphUpdates", updatesGraphs},
		{"GraphRefusals", refusesRecording},
		{"GraphChecks", checksRecordings},
		{"Attributes", tellsAttributes},
		{"TensorCores", tensorCores},
		{"PTX", inlinePTX},
		{"Split", mergesParts},
		{"Hopper", onHopper},
		{"StillWorks", adds},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, b) })
	}
}

// launch starts a kernel of the suite and waits for it.
func (b bench) launch(t *testing.T, name string, l device.Launch, args ...any) {
	t.Helper()
	require.NoError(t, b.Launch(b.kernel(t, name), l, args...))
	require.NoError(t, b.Sync())
}

func (b bench) kernel(t *testing.T, name string) device.Kernel {
	t.Helper()
	k, err := b.module.Kernel(name)
	require.NoError(t, err)
	return k
}

// alloc reserves a buffer for the length of a test.
func alloc[T device.Scalar](t *testing.T, b bench, name string, n int) device.Buffer[T] {
	t.Helper()
	buf, err := device.Alloc[T](b, name, n)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, buf.Free(b)) })
	return buf
}

// upload reserves a buffer that holds data.
func upload[T device.Scalar](t *testing.T, b bench, name string, data []T) device.Buffer[T] {
	t.Helper()
	buf := alloc[T](t, b, name, len(data))
	require.NoError(t, buf.CopyIn(b, data))
	return buf
}

// download reads a buffer.
func download[T device.Scalar](t *testing.T, b bench, buf device.Buffer[T]) []T {
	t.Helper()
	data, err := buf.CopyOut(b)
	require.NoError(t, err)
	return data
}

// ramp is 0, 1, 2, … as T.
func ramp[T device.Scalar](n int) []T {
	data := make([]T, n)
	for i := range data {
		data[i] = T(i)
	}
	return data
}
