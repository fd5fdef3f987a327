package gate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device"
	"flashlab/device/preprocess"
)

const finePTX = `#include <cuda_fp16.h>
#define TYPE "f16"
__device__ unsigned lane() {
    unsigned n;
    asm("mov.u32 %0, %%laneid;" : "=r"(n));
    return n;
}
extern "C" __global__ void k(unsigned *y) {
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int i = 0; i < 2; i++) { __asm__ __volatile__ ("" : "+r"(y[i])); }
    y[0] = lane(); // asm in a comment, and "asm" in a string
}
`

func TestPTXPassesWhereATaskAllowsIt(t *testing.T) {
	assert.Empty(t, Rules{PTX: true}.CheckKernel("k.cu", finePTX))
	assert.Contains(t, (&Error{Rules{}.CheckKernel("k.cu", finePTX)}).Error(), "k.cu:5: asm: inline assembly is not allowed in this task")
}

// TestWhatPTXAllowsIsNoMore: asm statements in functions, by themselves.
func TestWhatPTXAllowsIsNoMore(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"top-level":             {`asm(".globl evil");`, "k.cu:1: asm outside of a function"},
		"behind a function":     {"__device__ int f() { return 1; }\n__asm__(\"nop\");", "k.cu:2: __asm__ outside of a function"},
		"a symbol's name":       {`extern int f(int) asm("system");`, "asm outside of a function"},
		"a register":            {`__device__ int f() { register int x asm("rax"); return x; }`, "a variable in a register of its own"},
		"in an operand":         {`__device__ void f(int n) { asm("mov.u32 %0, 1;" : "=r"(n) : "r"(({ asm("syscall"); 1; }))); }`, "asm in the operands of another"},
		"in a lambda":           {`__device__ void f(int n) { asm("mov.u32 %0, 1;" : "=r"(n) : "r"([] { __asm("syscall"); return 1; }())); }`, "__asm in the operands of another"},
		"asm goto":              {`__device__ void f() { asm goto("jmp %l0" :::: out); out:; }`, "asm goto"},
		"asm inline":            {`__device__ void f() { asm inline("nop"); }`, "asm inline"},
		"a macro":               {"#define NOP asm(\"nop\")\n__device__ void f() { NOP; }", "k.cu:1: asm in a macro"},
		"a macro of lines":      {"#define NOP \\\n    asm(\"nop\")\n__device__ void f() { NOP; }", "asm in a macro"},
		"the word in a macro":   {"#define A __asm__\n__device__ void f() { A(\"nop\"); }", "__asm__ in a macro"},
		"a word put together":   {"#define A as##m\n__device__ void f() { A(\"nop\"); }", "macros that put words together"},
		"a raw string":          {`__device__ void f() { asm(R"(nop)"); }`, "holds a raw string"},
		"in a condition":        {"#if 0\n#elif asm\n#endif", "asm in a macro"},
		"an attribute, as ever": {`__device__ void f() { asm("exit;"); } __attribute__((constructor)) void g();`, "__attribute__"},
	} {
		assert.Contains(t, (&Error{Rules{PTX: true}.CheckKernel("k.cu", c.src)}).Error(), c.want, name)
		assert.NotEmpty(t, Rules{}.CheckKernel("k.cu", c.src), name)
	}
	src := device.Source{Name: "k.cu", Text: finePTX}
	_, err := Rules{PTX: true}.VetSource(src)
	assert.NoError(t, err)
	for _, value := range []string{"asm", "__asm__", "asm volatile"} {
		src.Defines = map[string]string{"A": value}
		_, err = Rules{PTX: true}.VetSource(src)
		assert.ErrorContains(t, err, "in a macro: ", value)
	}
	assert.NotEmpty(t, CheckGo("a.go", []byte("package p\n\n// int f() { asm(\"nop\"); }\nimport \"C\"\n"), "p"), "cgo")
	assert.NotEmpty(t, CheckGo("a.go", []byte("package p\n\n//go:cgo_ldflag \"x\"\nvar x int\n"), "p"), "a directive")
}

// TestExpandedPTX: only where the simulator translates the file's asm, none of a header's macros
// brings one in.
func TestExpandedPTX(t *testing.T) {
	lines := []preprocess.Line{{Number: 1, Text: `void f() { asm("exit;"); }`}}
	for _, translated := range []bool{false, true} {
		for _, allowed := range []bool{false, true} {
			err := Rules{PTX: allowed}.VetPreprocessed(preprocess.Text{File: "k.cu", Translated: translated, Lines: lines})
			assert.Equal(t, translated && allowed, err == nil, "%v", err)
		}
	}
}

// TestNoTextMakesTheGatePanic: however asm is cut off.
func TestNoTextMakesTheGatePanic(t *testing.T) {
	for i := range len(finePTX) {
		_ = Rules{PTX: true}.CheckKernel("k.cu", finePTX[:i])
		_ = Rules{PTX: true}.CheckKernel("k.cu", strings.Repeat("}", i%3)+finePTX[i:])
	}
}
