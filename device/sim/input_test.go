package sim

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/internal/cache"
)

func compile(d *Device, text string) error {
	_, err := d.Compile(device.Source{Name: "kernels.cu", Text: text})
	return err
}

func TestCompileErrorsNameTheStudentsLine(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Compiler: compiler})
		for text, want := range map[string]struct {
			line int
			part string
		}{
			"extern \"C\" __global__ void k(float *y) {\n  y[0] = undefined_name;\n}\n":                                               {2, "undefined_name"},
			"extern \"C\" __global__ void k(float *y) {\n  y[threadIdx.w] = 1;\n}\n":                                                  {2, "'w'"},
			"#include <nowhere.h>\nextern \"C\" __global__ void k(float *y) {}\n":                                                     {1, "nowhere.h"},
			"extern \"C\" int system(const char *);\nextern \"C\" __global__ void k(float *y) {\n  y[0] = system(\"ls\");\n}\n":       {1, "system"},
			"extern \"C\" __global__ void k(float *y) {\n  __shared__ float s[20000];\n  s[threadIdx.x] = y[0];\n  y[1] = s[0];\n}\n": {0, "80000 bytes"},
		} {
			err := compile(d, text)
			var e *device.CompileError
			require.ErrorAs(t, err, &e, text)
			require.NotEmpty(t, e.Diagnostics, "%v", err)
			assert.Equal(t, "kernels.cu", e.Diagnostics[0].File)
			assert.Equal(t, want.line, e.Diagnostics[0].Line, "%v", err)
			assert.Contains(t, normalQuotes(err.Error()), want.part)
			assert.NotContains(t, err.Error(), "simt_")
		}
	})
}

// TestCompileErrorsAreSaidOnce: what the table of kernels makes of a wrong line is no second error.
func TestCompileErrorsAreSaidOnce(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Compiler: compiler})
		err := compile(d, "extern \"C\" __global__ vioid k(float *y) {\n  y[0] = 1;\n}\n")
		var e *device.CompileError
		require.ErrorAs(t, err, &e)
		for _, one := range e.Diagnostics {
			assert.Equal(t, 1, one.Line, "%v", err)
		}
		assert.Contains(t, err.Error(), "\n     1 | extern \"C\" __global__ vioid k(float *y) {\n       | ")
	})
}

// normalQuotes: g++ and clang++ quote names differently by version.
func normalQuotes(s string) string {
	var out []rune
	for _, r := range s {
		if r == '‘' || r == '’' {
			r = '\''
		}
		out = append(out, r)
	}
	return string(out)
}

func TestNoCompilerSaysWhatToType(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CXX", "")
	foundMu.Lock()
	before := found
	found = map[string]*compiler{} // other tests have found one already
	foundMu.Unlock()
	t.Cleanup(func() {
		foundMu.Lock()
		found = before
		foundMu.Unlock()
	})
	_, err := findCompiler("")
	assert.ErrorIs(t, err, ErrNoCompiler)
	assert.ErrorContains(t, err, "apt-get install g++")
}

func TestABrokenCompilerIsToldApart(t *testing.T) {
	dir := t.TempDir()
	fake := filepath.Join(dir, "g++-broken")
	require.NoError(t, os.WriteFile(fake, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo 'g++ 99' && exit 0\necho 'internal compiler error'\nexit 1\n"), 0o755))
	_, err := Start(Options{Compiler: fake})
	assert.ErrorIs(t, err, ErrNoCompiler)
	assert.ErrorContains(t, err, "internal compiler error")
}

// TestACompilerWithoutTimeIsNotTooOld: whichever question it does not answer. One that answers all but cannot is.
func TestACompilerWithoutTimeIsNotTooOld(t *testing.T) {
	before := answerTimeout
	answerTimeout = 300 * time.Millisecond
	t.Cleanup(func() { answerTimeout = before })
	for _, question := range []string{"--version", "-dumpmachine", fillLocals} {
		fake := filepath.Join(t.TempDir(), "g++-busy")
		script := "#!/bin/sh\n[ \"$1\" = " + question + " ] && sleep 20\n[ \"$1\" = -dumpmachine ] && echo x86_64-linux-gnu || echo 'g++ 99'\n"
		require.NoError(t, os.WriteFile(fake, []byte(script), 0o755))
		_, err := findCompiler(fake)
		assert.ErrorIs(t, err, ErrNoCompiler)
		assert.ErrorContains(t, err, fake+": it did not answer "+question+" within 300ms: the machine may be busy")
		assert.ErrorContains(t, err, "try again")
		assert.NotContains(t, err.Error(), "too old")
	}
	fake := filepath.Join(t.TempDir(), "g++-old")
	require.NoError(t, os.WriteFile(fake, []byte("#!/bin/sh\necho 'g++: unrecognized option' >&2\nexit 1\n"), 0o755))
	_, err := findCompiler(fake)
	assert.ErrorContains(t, err, "unrecognized option")
	assert.ErrorContains(t, err, "too old")
	assert.NotContains(t, err.Error(), "busy")
}

// TestAKernelThatCompilesTooLongIsACompileError, and says that it may be the machine's fault.
func TestAKernelThatCompilesTooLongIsACompileError(t *testing.T) {
	err := compileError(moduleSource{name: "k.cu"}, "", fmt.Errorf("g++ took more than 2m0s: %w", errSlow))
	var wrong *device.CompileError
	require.ErrorAs(t, err, &wrong)
	assert.ErrorIs(t, err, errSlow)
	assert.ErrorContains(t, err, "took more than 2m0s: the machine may be busy")
}

func TestACacheThatCannotBeWrittenIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a-file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err := Start(Options{Cache: filepath.Join(file, "cache")})
	require.Error(t, err)
	assert.ErrorContains(t, err, "a-file")
}

func TestTwoBuildersOfOneKernelDoNotMeet(t *testing.T) {
	shared := t.TempDir()
	copyRuntime(t, shared)
	const text = `extern "C" __global__ void k(float *y) { y[threadIdx.x] = 41 + 1; }`
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			d, err := Start(Options{Cache: shared})
			if assert.NoError(t, err) {
				assert.NoError(t, compile(d, text))
				assert.NoError(t, d.Close())
			}
		})
	}
	wg.Wait()
	left, err := filepath.Glob(filepath.Join(shared, "modules", "*"))
	require.NoError(t, err)
	assert.Len(t, left, 2, "the module, and what is known of it")
}

// copyRuntime fills a cache with the simulator itself, which takes seconds to build.
func copyRuntime(t *testing.T, to string) {
	t.Helper()
	start(t, Options{})
	dir, err := cache.Dir()
	require.NoError(t, err)
	built, err := filepath.Glob(filepath.Join(dir, "flashsim-*"))
	require.NoError(t, err)
	for _, from := range built {
		data, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, cache.WriteFile(filepath.Join(to, filepath.Base(from)), data, 0o755))
	}
}

func TestMemoryHasALimit(t *testing.T) {
	d := start(t, Options{Memory: 1 << 20})
	_, err := d.Malloc("big", 1<<21)
	assert.ErrorIs(t, err, device.ErrOutOfMemory)
	for range 10 { // freed memory can be allocated again
		m, err := d.Malloc("scores", 1<<20)
		require.NoError(t, err)
		require.NoError(t, d.Free(m))
	}
}

func TestAProcessThatEndsIsAnErrorNotAHang(t *testing.T) {
	d := start(t, Options{})
	require.NoError(t, d.process.cmd.Process.Kill())
	time.Sleep(50 * time.Millisecond)
	_, err := d.Malloc("x", 4)
	assert.ErrorIs(t, err, errDied)
	_, err = d.Malloc("x", 4)
	assert.ErrorIs(t, err, errDied)
}

func TestAFullDiskIsAClearError(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a small file system needs root: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	_, err := Start(Options{Cache: dir})
	require.Error(t, err)
	assert.ErrorContains(t, err, "o space left on device") // Go writes it small, compilers large
	left, err := filepath.Glob(filepath.Join(dir, "flashsim-*"))
	require.NoError(t, err)
	assert.Empty(t, left, "nothing half-written is taken for whole")
}

func TestStaticSharedMemoryIsLimitedInAll(t *testing.T) {
	d := start(t, Options{})
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: `
extern "C" __global__ void much(float *y, int i) { __shared__ float a[8192], b[8192]; a[i] = b[i] = 1; y[0] = a[0] + b[0]; }
extern "C" __global__ void half(float *y, int i) { __shared__ float c[8192]; c[i] = 1; y[0] = c[0]; }
extern "C" __global__ void other(float *y, int i) { __shared__ float e[8192]; e[i] = 1; y[0] = e[0]; }`})
	require.NoError(t, err)
	y, err := device.Alloc[float32](d, "y", 1)
	require.NoError(t, err)
	for name, want := range map[string]string{"much": "65536 bytes in all: CUDA allows 49152", "half": "", "other": ""} {
		k, err := m.Kernel(name)
		require.NoError(t, err)
		err = d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(1)}, y, 0)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}
