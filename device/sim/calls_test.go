package sim

import (
	"debug/elf"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/internal/cache"
)

// declared gives the parameters of the C library's functions, as its headers have them.
func declared(t *testing.T, compiler string) map[string]string {
	file := filepath.Join(t.TempDir(), "all.c")
	require.NoError(t, os.WriteFile(file, []byte("#define _GNU_SOURCE\n#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n"), 0o644))
	out, err := exec.Command(compiler, "-x", "c", "-E", "-P", file).Output()
	require.NoError(t, err)
	parameters := map[string]string{}
	for _, m := range regexp.MustCompile(`\bextern\s[^;(){}]*?\b(\w+)\s*\(([^()]*)\)`).FindAllStringSubmatch(string(out), -1) {
		parameters[m[1]] = m[2]
	}
	return parameters
}

// libraryCalls are the functions of the C library's that allowedCalls lets through.
func libraryCalls(t *testing.T) (names []string) {
	list := strings.TrimSuffix(strings.TrimPrefix(allowedCalls.String(), "^("), ")$")
	list = strings.Replace(list, `simt_\w+|`+compilersCalls+"|", "", 1)
	for _, name := range strings.Split(list, "|") {
		require.Regexp(t, `^\w+$`, name)
		names = append(names, name)
	}
	return names
}

// Of what a kernel can link, whatever has a pointer among its parameters is the runtime's, which checks and counts
// what it does there. The list is that of the symbols which checkObject lets through, none besides.
func TestWhateverTakesAPointerIsWrapped(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		parameters := declared(t, start(t, Options{Compiler: compiler}).compiler.path)
		pointers := 0
		for _, name := range libraryCalls(t) {
			of, known := parameters[name]
			isOperator := strings.HasPrefix(name, "_Z") // new and delete
			require.True(t, known || isOperator, "no header of the C library's has %s: does it take a pointer?", name)
			if strings.Contains(of, "*") || isOperator {
				pointers++
				assert.Contains(t, wrapped, name, "%s(%s) reads or writes where no check looks: wrap it (calls.go, runtime/mathematics.cpp)", name, of)
			}
		}
		assert.Equal(t, len(wrapped)-1, pointers, "each that is wrapped has a pointer, but for malloc")
	})
}

// In whose place the linker puts __wrap_…, the runtime has one.
func TestTheRuntimeHasAllThatIsWrapped(t *testing.T) {
	d := start(t, Options{})
	dir, err := cache.Dir()
	require.NoError(t, err)
	binary, err := buildRuntime(d.compiler, dir)
	require.NoError(t, err)
	f, err := elf.Open(binary)
	require.NoError(t, err)
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	require.NoError(t, err)
	for _, name := range wrapped {
		assert.True(t, slices.ContainsFunc(symbols, func(s elf.Symbol) bool {
			return s.Name == "__wrap_"+name && s.Section != elf.SHN_UNDEF
		}), name)
	}
}

var writers = map[string]struct {
	x     float64
	bytes uint64 // that a thread's call writes
}{"frexp": {12, 4}, "modf": {2.5, 8}, "remquo": {8, 4}, "sincos": {0, 16}, "frexpf": {12, 4}, "modff": {2.5, 4}, "remquof": {8, 4}, "sincosf": {0, 8}}

// What they write is counted, initialised and bounded as a store of the kernel's own is, in device memory, in shared
// memory and on the stack; what nan reads is a load.
func TestMathematicsByPointerIsSeen(t *testing.T) {
	withModule(t, "mathematics.cu", func(b bench) {
		in := make([]float64, 32)
		launch := func(kernel string, at int) (counted uint64, y []float64, kinds []string) {
			require.NoError(b.t, b.d.Reset())
			x, y64 := upload(b, "x", in), alloc[float64](b, "y", 64)
			r, _ := b.try(kernel, device.Launch{Grid: device.D1(1), Block: device.D1(32)}, x, y64, int32(at))
			for _, f := range r.Findings {
				kinds = append(kinds, strings.TrimPrefix(f.Kind, "index ")) // clang++ knows how long an array is
				assert.NotZero(b.t, f.Line, f)
			}
			for _, l := range r.Launches {
				counted += l.GlobalWritten
			}
			return counted, download(b, y64), kinds
		}
		for name, c := range writers {
			for i := range in {
				in[i] = c.x
			}
			counted, _, kinds := launch("call_"+name, 0)
			assert.Empty(b.t, kinds, name)
			results := uint64(8)
			if strings.HasPrefix(name, "sincos") {
				results = 0
			}
			assert.Equal(b.t, 32*(c.bytes+results), counted, "%s: bytes written", name)
			_, _, kinds = launch("call_"+name, 1<<20)
			assert.Equal(b.t, []string{"out of bounds"}, kinds, name)
			_, shared, kinds := launch("call_"+name+"_shared", 0)
			assert.Empty(b.t, kinds, name)
			_, _, kinds = launch("call_"+name+"_shared", 1<<20)
			assert.Equal(b.t, []string{"out of bounds"}, kinds, name)
			_, local, kinds := launch("call_"+name+"_local", 0)
			assert.Empty(b.t, kinds, name)
			assert.Equal(b.t, local, shared, name)
			assert.Equal(b.t, wantWritten(name), math.Float64bits(local[0]), name)
		}
		for _, name := range []string{"call_nan", "call_nanf"} {
			_, _, kinds := launch(name, 0)
			assert.Equal(b.t, []string{"uninitialised"}, kinds)
			_, _, kinds = launch(name, 1<<20)
			assert.Equal(b.t, []string{"out of bounds"}, kinds)
		}
		for i := range in {
			in[i] = math.Exp2(float64(i))
		}
		_, _, kinds := launch("call_frexp_at_once", 0)
		assert.Equal(b.t, []string{"race"}, kinds)
	})
}

// wantWritten are the bits of the first eight bytes that a call of the test writes.
func wantWritten(name string) uint64 {
	switch name {
	case "frexp", "frexpf":
		return 4
	case "remquo", "remquof":
		return 3
	case "modf":
		return math.Float64bits(2)
	case "modff":
		return uint64(math.Float32bits(2))
	case "sincosf":
		return uint64(math.Float32bits(1)) << 32
	}
	return 0 // the sine
}
