package sim

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// libraryHeaders are the C++ library's that ours include: names of theirs are no names of ours.
const libraryHeaders = "array cstddef cstdint functional iostream limits ostream string tuple type_traits utility"

// names are all that our headers say, and what their macros come to: what comes of the compiler's preprocessor.
func names(t *testing.T, c *compiler, include string, headers []string) []string {
	t.Helper()
	dir := t.TempDir()
	var text strings.Builder
	for _, h := range headers {
		fmt.Fprintf(&text, "#include <%s>\n", h)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "all.cpp"), []byte(text.String()), 0o644))
	out, err := c.run(dir, append(c.kernelFlags(AllChecks()), "-I", include, "-include", "simt.h", "-E", "all.cpp")...)
	require.NoError(t, err, out)
	found := map[string]bool{}
	for _, text := range slices.Collect(maps.Values(guardedHeaders())) { // in branches that this compiler leaves out, too
		for _, name := range identifiers.FindAllString(device.BlankComments(text), -1) {
			found[name] = true
		}
	}
	ours := false
	for line := range strings.Lines(out) {
		if m := lineMarker.FindStringSubmatch(line); m != nil {
			ours = strings.HasPrefix(m[2], include)
		} else if ours && !strings.HasPrefix(line, "#") {
			for _, name := range identifiers.FindAllString(device.BlankComments(line), -1) {
				found[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// laterHeaders are those that a file may include behind a macro of its own: all but the parts of simt.h.
func laterHeaders() (names []string) {
	for name := range guardedHeaders() {
		if name = strings.TrimPrefix(name, "include/"); name != "simt.h" && !strings.HasPrefix(name, "simt/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return append(names, "simt/ptx.h")
}

// No name of ours is in a kernel's way: whatever our headers call anything is a macro here, one that breaks
// all that it gets into, and each header is included behind that.
func TestNoMacroGetsIntoOurHeaders(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		c, err := findCompiler(compiler)
		require.NoError(t, err)
		src, err := writeSources(t.TempDir())
		require.NoError(t, err)
		headers := laterHeaders()
		require.Greater(t, len(headers), 25)
		broken, own := map[string]string{}, ourMacros()
		for _, name := range names(t, c, filepath.Join(src, "include"), headers) {
			if device.RefuseMacro(name) == "" && !own[name] {
				broken[name] = "@ no macro gets here @"
			}
		}
		require.Greater(t, len(broken), 900)
		var before strings.Builder
		before.WriteString("#include <simt.h>\n")
		for _, h := range strings.Fields(libraryHeaders) {
			fmt.Fprintf(&before, "#include <%s>\n", h)
		}
		defines := device.Source{Defines: broken}.DefineLines()
		check := func(include string) func(text string) (string, error) {
			dir := t.TempDir()
			args := append(c.kernelFlags(AllChecks()), "-I", include)
			begun := readOnce(t, c, dir, before.String(), args)
			return func(text string) (string, error) {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "k.cpp"), []byte(defines+text), 0o644))
				return c.run(dir, slices.Concat(args, begun, []string{"-fsyntax-only", "k.cpp"})...)
			}
		}
		guarded := check(filepath.Join(src, "include"))
		all := ""
		for _, h := range headers {
			all += "#include <" + h + ">\n"
			if os.Getenv("FLASHLAB_ALL") != "" { // else all at once
				out, err := guarded("#include <" + h + ">\n")
				assert.NoError(t, err, "%s\n%s", h, out[:min(len(out), 1000)])
			}
		}
		out, err := guarded(all)
		assert.NoError(t, err, out[:min(len(out), 1000)])
		out, err = check(unguarded(t))("#include <mma.h>\n")
		assert.Error(t, err, "without guards")
		assert.Contains(t, out, "macro", "which the compiler says")
	})
}

// readOnce has the compiler read what many files begin with, and gives the flags to begin with that.
func readOnce(t *testing.T, c *compiler, dir, text string, args []string) []string {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "begun.h"), []byte(text), 0o644))
	out, err := c.run(dir, slices.Concat(args, []string{"-x", "c++-header", "begun.h", "-o", "begun.h.gch"})...)
	require.NoError(t, err, out)
	if c.clang {
		return []string{"-include-pch", "begun.h.gch"}
	}
	return []string{"-Winvalid-pch", "-Werror=invalid-pch", "-include", "./begun.h"} // g++ finds the other beside it
}

// unguarded are the headers as they are written, but for simt.h and its parts.
func unguarded(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, sources))
	return filepath.Join(dir, "include")
}

// ourMacros are what our headers define for kernels to use: threadIdx, CUDART_INF_F.
func ourMacros() map[string]bool {
	found := map[string]bool{}
	for _, text := range guardedHeaders() {
		for _, m := range definedName.FindAllStringSubmatch(text, -1) {
			found[m[1]] = true
		}
	}
	return found
}

const walkedKernel = `#include <mma.h>
#include <cooperative_groups.h>
#include <cuda/barrier>
extern "C" __global__ void k(float *out) {
  __shared__ alignas(16) float s[32];
  s[threadIdx.x] = T + N;
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x];
}
`

// A macro of one letter is what students have: in Source.Defines, or before an #include, with a host side or not.
func TestMacrosOfOneLetter(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Compiler: compiler, Checks: AllChecks()})
		letters := map[string]string{}
		for _, c := range "TNMKABCDxyzwijn" {
			if c != 'x' { // threadIdx.x is the kernel's own
				letters[string(c)] = "32"
			}
		}
		lines := device.Source{Defines: letters}.DefineLines()
		for name, src := range map[string]device.Source{
			"by Go":            {Text: walkedKernel, Defines: letters},
			"in the file":      {Text: lines + walkedKernel},
			"with a host side": {Text: lines + walkedKernel + "int main() { return 0; }\n"},
			"without checks":   {Text: lines + walkedKernel, Defines: map[string]string{"call": "1", "sizes": "2", "all": "3", "address": "4"}},
			"with inline PTX":  {Text: lines + walkedKernel + "__device__ int lane() { int l; asm(\"mov.u32 %0, %laneid;\" : \"=r\"(l)); return l; }\n", Defines: map[string]string{"ptx": "1"}},
			"of an attribute":  {Text: "#define aligned 1\n#define always_inline 1\n#define noinline 1\n" + lines + walkedKernel + "__device__ __noinline__ void f() {}\n"},
		} {
			src.Name = "kernels.cu"
			m, err := d.Compile(src)
			require.NoError(t, err, name)
			k, err := m.Kernel("k")
			require.NoError(t, err, name)
			out, err := device.Upload(d, "out", make([]float32, 32))
			require.NoError(t, err)
			require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(32)}, out), name)
			got, err := out.CopyOut(d)
			require.NoError(t, err)
			assert.Equal(t, float32(64), got[5], name)
		}
	})
}

// What remains is refused by its name: words of C++, reserved names, and those of the C++ library.
func TestOtherMacrosAreRefusedByName(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	for name, says := range map[string]string{
		"float": "compile kernels.cu: the macro float = 3: float is a word of C++: take another name for the macro",
		"__T":   "compile kernels.cu: the macro __T = 3: names such as __T are the compiler's and its headers': take another one for the macro",
		"simt_": "names such as simt_",
	} {
		_, err := d.Compile(device.Source{Text: walkedKernel, Defines: map[string]string{name: "3"}})
		assert.ErrorContains(t, err, says)
	}
	for _, host := range []string{"", "int main() { return 0; }\n"} {
		_, err := d.Compile(device.Source{Text: "#define N 2\n#define tuple_size 3\n#include <cuda/std/tuple>\n#define T 1\n" + walkedKernel + host})
		assert.ErrorContains(t, err, "kernels.cu:2: error: the macro tuple_size stands in the way of <")
		assert.NotContains(t, fmt.Sprint(err), "redefinition")
	}
	for _, value := range []string{"1 /*", "1 // x", "1 \\", "1\n2"} {
		_, err := d.Compile(device.Source{Text: walkedKernel, Defines: map[string]string{"T": value}})
		assert.ErrorContains(t, err, "its value is one line", value)
	}
}
