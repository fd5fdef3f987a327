package sim

import (
	"embed"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/nvcc"
	"flashlab/device/trace"
)

//go:embed testdata/*.cu
var testdata embed.FS

func readTestdata(t *testing.T, name string) string {
	t.Helper()
	text, err := testdata.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return string(text)
}

// readBugs reads a file of planted bugs that the corpus shares.
func readBugs(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "corpus", "bugs", name))
	require.NoError(t, err)
	return string(text)
}

// forEachBug calls test for each kernel of a file of planted bugs, compiled with the macro BUG, and what must be found in
// it. It calls test once more for a kernel with an #ifdef BUG: without BUG that is the twin, in which nothing is wrong.
func forEachBug(src device.Source, test func(src device.Source, kernel string, want *trace.Finding)) {
	want, kernels := wants(src.Text), device.ScanKernels(src.Text)
	lines := strings.Split(src.Text, "\n")
	for i, k := range kernels {
		end := len(lines)
		if i+1 < len(kernels) {
			end = kernels[i+1].Line
		}
		src.Defines = map[string]string{"BUG": "1"}
		w, buggy := want[k.Name]
		if !buggy {
			test(src, k.Name, nil)
			continue
		}
		test(src, k.Name, &w)
		if body := lines[k.Line:end]; slices.Contains(body, "#ifdef BUG") || slices.Contains(body, "#ifndef BUG") {
			src.Defines = nil
			test(src, k.Name, nil)
		}
	}
}

// bench is a device with one module on it.
type bench struct {
	t *testing.T
	d *Device
	m device.Module
}

// withModule runs a test for each compiler, on a device with a file's kernels.
func withModule(t *testing.T, file string, test func(b bench)) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		m, err := d.Compile(device.Source{Name: file, Text: readTestdata(t, file)})
		require.NoError(t, err)
		test(bench{t, d, m})
	})
}

// launch runs a kernel on n threads in blocks of at most 256, which must go
// without a finding.
func (b bench) launch(name string, n int, args ...any) *trace.Report {
	b.t.Helper()
	block := min(n, 256)
	return b.launchShape(name, device.Launch{Grid: device.D1((n + block - 1) / block), Block: device.D1(block)}, args...)
}

func (b bench) launchShape(name string, l device.Launch, args ...any) *trace.Report {
	b.t.Helper()
	r, err := b.try(name, l, args...)
	require.NoError(b.t, err, name)
	for _, f := range r.Findings {
		require.Fail(b.t, "a finding on a right kernel", "%s:\n%v", name, f)
	}
	return r
}

func (b bench) try(name string, l device.Launch, args ...any) (*trace.Report, error) {
	b.t.Helper()
	k, err := b.m.Kernel(name)
	require.NoError(b.t, err)
	launched := b.d.Launch(k, l, args...)
	r, err := b.d.Report()
	require.NoError(b.t, err)
	return r, launched
}

func upload[T device.Scalar](b bench, name string, data []T) device.Buffer[T] {
	b.t.Helper()
	buffer, err := device.Upload(b.d, name, data)
	require.NoError(b.t, err)
	return buffer
}

func alloc[T device.Scalar](b bench, name string, n int) device.Buffer[T] {
	b.t.Helper()
	buffer, err := device.Alloc[T](b.d, name, n)
	require.NoError(b.t, err)
	return buffer
}

func download[T device.Scalar](b bench, buffer device.Buffer[T]) []T {
	b.t.Helper()
	data, err := buffer.CopyOut(b.d)
	require.NoError(b.t, err)
	return data
}

// What the simulator runs must be CUDA.
func TestTestdataIsValidCUDA(t *testing.T) {
	tk, err := nvcc.Find()
	if err != nil {
		t.Skip(err)
	}
	files, err := testdata.ReadDir("testdata")
	require.NoError(t, err)
	for _, f := range files {
		if f.Name() == "bugs.cu" || path.Ext(f.Name()) != ".cu" {
			continue // some of its bugs nvcc sees itself
		}
		t.Run(f.Name(), func(t *testing.T) {
			record.Skip(t, "nvcc "+tk.Version)
			_, err := tk.Compile(device.Source{Name: f.Name(), Text: readTestdata(t, f.Name())}, "sm_90a")
			assert.NoError(t, err)
		})
	}
}
