package gate

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func TestCheckGo(t *testing.T) {
	const head = "package unfused\n\nimport (\n\t\"fmt\"\n\t\"flashlab/device\"\n)\n\n"
	assert.Empty(t, CheckGo("a.go", []byte(head+"func New(q device.Queue) error { return fmt.Errorf(\"x\") }\n"), "unfused"))
	for name, c := range map[string]struct{ src, want string }{
		"os":           {"package unfused\nimport \"os\"\n", `a.go:2: imports "os": a submission may import`},
		"renamed":      {"package unfused\nimport x \"unsafe\"\n", `a.go:2: imports "unsafe"`},
		"cgo":          {"package unfused\nimport \"C\"\n", "a.go:2: uses cgo: kernels belong in the .cu file"},
		"solution":     {"package unfused\nimport \"flashlab/task2_unfused/solution\"\n", "a task stands alone"},
		"simulator":    {"package unfused\nimport \"flashlab/device/sim\"\n", `imports "flashlab/device/sim"`},
		"layers":       {"package e2e\nimport \"flashlab/nn\"\n", `imports "flashlab/nn"`},
		"init":         {"package unfused\n\nfunc init() {}\n", "a.go:3: func init: do the work in New"},
		"go:linkname":  {"package unfused\n//go:linkname a b\n", "a.go:2: //go:linkname a b"},
		"line":         {"package unfused\n//line grader.go:1\nfunc init() {}\n", "a.go:3: func init"},
		"block line":   {"package unfused\n/*line x.go:3:4*/ var x int\n", "a.go:2: /*line x.go:3:4"},
		"constraint":   {"//go:build ignore\n\npackage unfused\n", "a.go:1: //go:build ignore"},
		"old one":      {"// +build ignore\n\npackage unfused\n", "a.go:1: a build constraint"},
		"package":      {"package other\n", "a.go:1: package other: this task's files say package unfused"},
		"syntax":       {"package unfused\n\nfunc {\n", "a.go:3: syntax error"},
		"no body":      {"package unfused\nfunc f()\n", "a.go:2: func f has no body"},
		"time":         {"package unfused\nimport \"time\"\n", `imports "time"`},
		"raw encoding": {"package unfused\nimport `o\x73`\n", `imports "os"`},
	} {
		got := (&Error{CheckGo("a.go", []byte(c.src), "unfused")}).Error()
		assert.Contains(t, got, c.want, name)
	}
}

const fineKernel = `#include <cuda_runtime.h>
#include "math.h" // exp
#include "tensorcore.h"
#define TILE 16
#if TILE > 8 /* asm */
#endif
// asm volatile, __attribute__((constructor)), #line are only words here
struct __attribute__((aligned(16))) Four { float a, b, c, d; };
extern "C" __global__ void softmax(const float *x, float *y, int len, int inner) {
  __shared__ float tile[TILE][TILE + 1];
  const char *s = "asm #include <x> ERROR";
  [[maybe_unused]] int million = 1'000'000;
#pragma unroll 4
  for (int i = 0; i < len; ++i) y[i] = x[i];
}
`

func TestCheckKernelLetsAKernelPass(t *testing.T) {
	assert.Empty(t, Rules{}.CheckKernel("k.cu", fineKernel))
	assert.Empty(t, Rules{}.CheckKernel("k.cu", "namespace detail { __device__ float simtFree, cuda_detail, together; }\nfloat x = mine::detail::update(detail::y);\n"))
}

// refusedKernels are what no kernel may say, and what is said of it.
var refusedKernels = map[string]struct{ src, want string }{
	"host header":     {"\n#include <unistd.h>\n", "k.cu:2: #include <unistd.h>"},
	"quoted path":     {`#include "/etc/passwd"`, `k.cu:1: #include "/etc/passwd"`},
	"spaced":          {"  #  include   <stdlib.h>", "k.cu:1: #include <stdlib.h>"},
	"macro include":   {"#define H <stdlib.h>\n#include H\n", "k.cu:2: #include H"},
	"include_next":    {"#include_next <math.h>", "k.cu:1: #include_next"},
	"import":          {"#import <math.h>", "k.cu:1: #import"},
	"split include":   {"#inc\\\nlude <stdlib.h>\nint x;", "k.cu:1: #include <stdlib.h>"},
	"commented hash":  {"/* */ #include <stdlib.h>", "#include <stdlib.h>"},
	"line":            {"int a;\n#line 1 \"grader.cu\"\n", "k.cu:2: #line"},
	"marker":          {"# 1 \"grader.cu\"\n", "k.cu:1: #line"},
	"asm":             {"void f() { asm(\"nop\"); }", "k.cu:1: asm: inline assembly"},
	"__asm__":         {"void f() { __asm__(\"nop\"); }", "__asm__"},
	"split asm":       {"void f() { as\\\nm(\"nop\"); }", "asm"},
	"pasted asm":      {"#define P(a,b) a##b\n", "k.cu:1: ##"},
	"attribute":       {"__attribute__((no_sanitize(\"thread\"))) void f();", "k.cu:1: __attribute__"},
	"two attributes":  {"__attribute__((aligned(4), constructor)) void f();", "k.cu:1: __attribute__"},
	"C++ attribute":   {"[[gnu::constructor]] void f();", "k.cu:1: a C++ attribute"},
	"spaced [[":       {"[ [gnu::constructor]] void f();", "a C++ attribute"},
	"[[ on two lines": {"int x;\n[ // one\n\n [gnu::constructor]] void f();", "k.cu:2: a C++ attribute [[…]] over two lines"},
	"pragma":          {"#pragma GCC optimize(\"O3\")", "k.cu:1: #pragma GCC"},
	"_Pragma":         {"_Pragma(\"GCC optimize\")", "_Pragma"},
	"after a comment": {"/* a\nb */ asm(\"\");", "k.cu:2: asm"},
	"raw string":      {"const char *s = R\"x(\" asm )x\";", "raw string"},
	"after a string":  {"const char *s = \"\\\"\"; asm(\"\");", "k.cu:1: asm"},
	"hidden include":  {"# /*\n*/ include <stdlib.h>", "k.cu:1: a comment that runs on"},
	"simulator's":     {"int x;\nfloat y = simt :: update(p, f);", "k.cu:2: simt: this name is the simulator's own"},
	"its namespace":   {"namespace mine = simt;", "k.cu:1: simt"},
	"split simulator": {"using namespace si\\\nmt;", "k.cu:1: simt"},
	"CUDA's inside":   {"using nvcuda :: wmma::detail::load;", "k.cu:1: nvcuda :: wmma::detail: it lies inside of CUDA's headers"},
	"host's atomic":   {"__atomic_store_n(p, 1, 0);", "k.cu:1: __atomic_store_n"},
	"trigraph":        {"??=include <stdlib.h>", "trigraph"},
	"digraph":         {"%:include <stdlib.h>", "%:"},
	"[[ digraph":      {"<:<:gnu::constructor:>:> void f();", "digraph"},
}

func TestCheckKernelRefuses(t *testing.T) {
	for name, c := range refusedKernels {
		got := (&Error{Rules{}.CheckKernel("k.cu", c.src)}).Error()
		assert.Contains(t, got, c.want, name)
	}
}

func TestVetSourceLooksAtNamesOfKernels(t *testing.T) {
	src := device.Source{Name: "k.cu", Text: fineKernel, Kernels: []string{"k", "k<float, 4>", "k<ns::pair<int, -2>>"}}
	_, err := Rules{}.VetSource(src)
	assert.NoError(t, err)
	for _, k := range []string{"", "k<1>); system(1", "k<1>; int x", "k<sizeof(\"x\")>", "k<__asm__>", "k<1>\n#include <x>", "k{}"} {
		src.Kernels = []string{k}
		_, err = Rules{}.VetSource(src)
		assert.Error(t, err, k)
	}
}

func TestVetSourceLooksAtMacros(t *testing.T) {
	src := device.Source{Name: "k.cu", Text: fineKernel, Defines: map[string]string{"BLOCK": "256", "T": "float"}}
	_, err := Rules{}.VetSource(src)
	assert.NoError(t, err)
	for _, d := range []map[string]string{{"A": "__attribute__((constructor))"}, {"A(x)": "1"}, {"A": "1\n#include <x>"}, {"A": "asm"}, {"A": "\"x\""}} {
		src.Defines = d
		_, err := Rules{}.VetSource(src)
		assert.Error(t, err, "%v", d)
	}
}

func TestReadTakesRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("a.go", "package p\n")
	write("big.cu", strings.Repeat(" ", MaxFile+1))
	write("bin.cu", "\x00\xff")
	require.NoError(t, os.Symlink("a.go", filepath.Join(dir, "link.go")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "dir.go"), 0o755))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.cu"), 0o644))

	files, err := Rules{}.Read(dir, "p", []string{"a.go"})
	require.NoError(t, err)
	assert.Equal(t, "package p\n", string(files[0].Data))
	for name, want := range map[string]string{
		"link.go": "symbolic link", "dir.go": "no regular file", "pipe.cu": "no regular file",
		"big.cu": "larger than 1 MB", "bin.cu": "UTF-8", "none.go": "is missing",
	} {
		_, err := Rules{}.Read(dir, "p", []string{name})
		var refused *Error
		require.ErrorAs(t, err, &refused, name)
		assert.ErrorContains(t, err, want, name)
	}
	honours := Rules{Honours: []string{"none.go", "link.go"}}
	files, err = honours.Read(dir, "p", []string{"a.go", "none.go"})
	require.NoError(t, err, "one for honours may be missing")
	assert.Len(t, files, 1)
	_, err = honours.Read(dir, "p", []string{"link.go"})
	assert.ErrorContains(t, err, "symbolic link", "but not be anything else")
}
