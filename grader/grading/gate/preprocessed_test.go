package gate

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device/preprocess"
)

func vet(lines ...string) error {
	p := preprocess.Text{File: "k.cu", Headers: "/cache/include", Words: []string{"simt_threadIdx", "simt_alignment"}}
	for i, l := range lines {
		p.Lines = append(p.Lines, preprocess.Line{File: "k.cu", Number: i + 1, Text: l})
	}
	return Rules{}.VetPreprocessed(p)
}

func TestVetPreprocessed(t *testing.T) {
	assert.NoError(t, vet(`__attribute__((noinline)) int f() { return simt_threadIdx.x; }`, `float n = (__builtin_nanf (""));`,
		`struct __attribute__((__aligned__(simt_alignment<16>()))) S { int a; };`, `#pragma unroll 4`, `const char *s = "asm __attribute__";`,
		`extern "C" __attribute__((global)) void __attribute__((launch_bounds((64 / (16 * (64 > 128 ? 2 : 1))) * 32))) k() {`,
		`__attribute__((shared)) __attribute__((aligned(16))) float rows[4]; (__builtin_inff ());`))
	for line, says := range map[string]string{
		`void f() { __asm__("nop"); }`:                                 "k.cu:1: __asm__: inline assembly",
		`__attribute__((no_sanitize("thread"))) int x;`:                "k.cu:1: __attribute__",
		`__attribute__((noinline, constructor)) void f();`:             "k.cu:1: __attribute__",
		`__attribute__((aligned(4), no_sanitize("thread"))) int x;`:    "k.cu:1: __attribute__",
		`__attribute__((global, weak)) void f();`:                      "k.cu:1: __attribute__",
		`__attribute__((__noinline__, constructor)) void f();`:         "k.cu:1: __attribute__",
		`__attribute__((launch_bounds(32), naked)) void f();`:          "k.cu:1: __attribute__",
		`__attribute__((device)) __attribute__((section("x"))) int y;`: "k.cu:1: __attribute__",
		`[[gnu::constructor]] void f();`:                               "a C++ attribute",
		`int y = simt_access(0);`:                                      "simt_access: this name is the simulator's own",
		`int y = simt::alignment<16>();`:                               "simt: this name is the simulator's own",
		`__builtin_ia32_movntps(p, v);`:                                "__builtin_ia32_movntps",
		`#pragma GCC optimize("O3")`:                                   "#pragma GCC",
		`const char *s = R"x()x";`:                                     "raw string",
		`const wchar_t c = L'"'; asm("nop"); const wchar_t d = L'"';`:  "asm",
		`int n = 1'000; asm("nop"); int m = 1'0;`:                      "asm",
	} {
		assert.ErrorContains(t, vet(line), says)
	}
}

// Two brackets are an attribute wherever their lines are from, and whatever directive was between.
func TestBracketsOfTwoFiles(t *testing.T) {
	p := preprocess.Text{File: "k.cu", Lines: []preprocess.Line{{File: "k.cu", Number: 3, Text: "int x; ["}, {File: "k.cu", Number: 4, Text: "#pragma unroll"},
		{File: "tile.cuh", Number: 1, Text: "  [gnu::weak]] int y;"}}}
	assert.EqualError(t, withHeaders.VetPreprocessed(p), "k.cu:3: a C++ attribute [[…]] over two lines: "+attributesAllowed)
	p.Lines[2].Text = "[maybe_unused]] int y;"
	assert.NoError(t, withHeaders.VetPreprocessed(p))
	assert.NoError(t, vet("int a[2][3] = {{1}};", "x = a[1]", "[2];"))
}

func TestVetIncludes(t *testing.T) {
	for path, allowed := range map[string]bool{
		"/usr/include/math.h": true, "/usr/include/c++/12/cmath": true, "/usr/lib/gcc/x86_64-linux-gnu/12/include/float.h": true,
		"/cache/include/cooperative_groups/reduce.h": true, "/cache/include/tensorcore.h": true,
		"/usr/include/unistd.h": false, "/cache/include/simt/kernel.h": false, "/etc/math.h": false, "math.h": false, "k.cu": false,
		"/usr/include/sys/math.h": false, "/cache/include/../math.h": false,
	} {
		err := Rules{}.VetPreprocessed(preprocess.Text{File: "k.cu", Headers: "/cache/include", Includes: []preprocess.Line{{Number: 3, Text: path}}})
		assert.Equal(t, allowed, err == nil, "%s: %v", path, err)
	}
	assert.ErrorContains(t, Rules{}.VetPreprocessed(preprocess.Text{File: "k.cu", Strange: []preprocess.Line{{Number: 3, Text: "x.cu"}}}), "k.cu:3: #line")
}

func TestNormalForm(t *testing.T) {
	assert.Equal(t, "a\nb\nc d e\\\nf\\\ng\n", Normal("a\r\nb\rc\fd\ve\\\f\nf\\ \t\n"+"g\n"))
	for name, src := range map[string]string{
		"character with a prefix":     `wchar_t a = L'"'; asm("nop"); wchar_t b = L'"';`,
		"character behind a digit":    `N(1'"') asm("nop"); N(1'"')`,
		"carriage return":             "// x\rasm(\"nop\");",
		"backslash and form feed":     "const char *s = \"a\\\f\n\"; asm(\"nop\"); const char *t = \"\";",
		"backslash and vertical tab":  "const char *s = \"a\\\v\n\"; asm(\"nop\"); const char *t = \"\";",
		"word with a foreign letter":  "N(é1'a' \"/*\") asm(\"nop\"); N(\"*/\")",
		"word with a dollar":          "N($1'a' \"/*\") asm(\"nop\"); N(\"*/\")",
		"string that holds a comment": `N(L'"' "/*") asm("nop"); N("*/")`,
	} {
		assert.Contains(t, (&Error{Rules{}.CheckKernel("k.cu", src)}).Error(), "asm", name)
	}
	assert.Empty(t, Rules{}.CheckKernel("k.cu", "int n = 1'000'000; char c = u8'\\''; const char *s = u8\"asm\";\n"))
}
