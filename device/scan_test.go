package device

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/mutate"
)

// one scans a text that must hold exactly one kernel.
func one(t *testing.T, text string) Signature {
	t.Helper()
	sigs := ScanKernels(text)
	require.Len(t, sigs, 1, text)
	return sigs[0]
}

func TestScanFindsNameParametersAndLine(t *testing.T) {
	s := one(t, "// a file\n\nextern \"C\" __global__ void softmax(const float *x, float *__restrict__ y, int len) {}\n")
	assert.Equal(t, "softmax", s.Name)
	assert.Equal(t, 3, s.Line)
	assert.Equal(t, []Param{
		{Name: "x", Type: "const float *", Kind: Pointer, Size: 8, Elem: "float"},
		{Name: "y", Type: "float *__restrict__", Kind: Pointer, Size: 8, Elem: "float"},
		{Name: "len", Type: "int", Kind: Int, Size: 4},
	}, s.Params)
	assert.Equal(t, "softmax(const float * x, float *__restrict__ y, int len)", s.String())
}

func TestScanReadsPastAttributes(t *testing.T) {
	for _, text := range []string{
		`extern "C" __global__ void __launch_bounds__(256) k(int n) {}`,
		`extern "C" __global__ void __launch_bounds__((BLOCK) * 2, 1) k(int n) {}`,
		`extern "C" __global__ __launch_bounds__(256) void k(int n) {}`,
		`extern "C" __launch_bounds__(256) __global__ void k(int n) {}`,
		`extern "C" void __global__ k(int n) {}`,
		"extern \"C\"\n__global__ void\nk (\n  int n\n)\n{\n}",
		`extern "C" { __device__ int one() { return 1; } __global__ void k(int n) {} }`,
		`extern /* C, not C++ */ "C" __global__ /* void */ void k(int /* float */ n) {}`,
	} {
		s := one(t, text)
		assert.Equal(t, "k", s.Name, text)
		assert.Equal(t, []Param{{Name: "n", Type: "int", Kind: Int, Size: 4}}, s.Params, text)
	}
}

func TestScanSkipsWhatGoCannotLaunch(t *testing.T) {
	for name, text := range map[string]string{
		"C++ linkage":      `__global__ void k(int n) {}`,
		"a template":       `template <typename T> __global__ void k(T *x) {}`,
		"a declaration":    `extern "C" __global__ void k(int n);`,
		"a line comment":   `// extern "C" __global__ void k(int n) {}`,
		"a joined comment": "// a slash at the end \\\nextern \"C\" __global__ void k(int n) {}",
		"a block comment":  "/* extern \"C\"\n__global__ void k(int n) {} */",
		"an open comment":  `/* extern "C" __global__ void k(int n) {}`,
		"a string":         `const char *s = "extern \"C\" __global__ void k(int n) {}";`,
		"a macro":          "#define K(k) \\\n  extern \"C\" __global__ void k(int n) {}",
		"#if 0":            "#if 0 // old\n#ifdef X\n#endif\nextern \"C\" __global__ void k(int n) {}\n#endif",
		"after a block":    `extern "C" { int one(); } __global__ void k(int n) {}`,
		"extern C++":       `extern "C++" __global__ void k(int n) {}`,
		"cut off":          `extern "C" __global__ void k(int n`,
		"nothing":          ``,
	} {
		assert.Empty(t, ScanKernels(text), name)
	}
}

func TestScanFindsKernelsAmongOtherCode(t *testing.T) {
	text := strings.Join([]string{
		`#include <cuda_fp16.h>`,
		`template <int N, typename T> __device__ T sum(const T (&x)[N]) { return x[0]; }`,
		`static const char quote = '"', *text = "a \" // b";`,
		`static const int million = 1'000'000;`,
		`#if 0`,
		`extern "C" __global__ void old(float *x) {}`,
		`#else`,
		`extern "C" __global__ void first(float *x) { if (million > 1'000) { x[0] = 'x'; } }`,
		`#endif`,
		`extern "C" __global__ void second(void) {}`,
		`extern "C" __global__ void third();`,
		`extern "C" __global__ void third() {}`,
	}, "\n")
	var names []string
	var lines []int
	for _, s := range ScanKernels(text) {
		names, lines = append(names, s.Name), append(lines, s.Line)
	}
	assert.Equal(t, []string{"first", "second", "third"}, names)
	assert.Equal(t, []int{8, 10, 12}, lines)
	assert.Empty(t, ScanKernels(text)[1].Params)
}

func TestScanReadsParameterTypes(t *testing.T) {
	for text, want := range map[string]Param{
		"int n":                     {Name: "n", Type: "int", Kind: Int, Size: 4},
		"const int n":               {Name: "n", Type: "const int", Kind: Int, Size: 4},
		"int const n":               {Name: "n", Type: "int const", Kind: Int, Size: 4},
		"unsigned n":                {Name: "n", Type: "unsigned", Kind: Int, Size: 4, Unsigned: true},
		"unsigned int":              {Type: "unsigned int", Kind: Int, Size: 4, Unsigned: true},
		"unsigned char":             {Type: "unsigned char", Kind: Int, Size: 1, Unsigned: true},
		"short int n":               {Name: "n", Type: "short int", Kind: Int, Size: 2},
		"long long int n":           {Name: "n", Type: "long long int", Kind: Int, Size: 8},
		"unsigned long n":           {Name: "n", Type: "unsigned long", Kind: Int, Size: 8, Unsigned: true},
		"std::size_t n":             {Name: "n", Type: "std::size_t", Kind: Int, Size: 8, Unsigned: true},
		"bool causal":               {Name: "causal", Type: "bool", Kind: Int, Size: 1, Unsigned: true},
		"double d":                  {Name: "d", Type: "double", Kind: Float, Size: 8},
		"float4 v":                  {Name: "v", Type: "float4"},
		"Tile<64, 32> t":            {Name: "t", Type: "Tile<64, 32>"},
		"half h":                    {Name: "h", Type: "half", Size: 2, Elem: "half"},
		"float* x":                  {Name: "x", Type: "float*", Kind: Pointer, Size: 8, Elem: "float"},
		"const float *":             {Type: "const float *", Kind: Pointer, Size: 8, Elem: "float"},
		"const float *__restrict__": {Type: "const float *__restrict__", Kind: Pointer, Size: 8, Elem: "float"},
		"float *const x":            {Name: "x", Type: "float *const", Kind: Pointer, Size: 8, Elem: "float"},
		"float **x":                 {Name: "x", Type: "float **", Kind: Pointer, Size: 8},
		"float x[]":                 {Name: "x", Type: "float[]", Kind: Pointer, Size: 8, Elem: "float"},
		"float x[4][4]":             {Name: "x", Type: "float[][]", Kind: Pointer, Size: 8},
		"uint64_t *n":               {Name: "n", Type: "uint64_t *", Kind: Pointer, Size: 8, Elem: "unsigned long long"},
		"const __half *h":           {Name: "h", Type: "const __half *", Kind: Pointer, Size: 8, Elem: "half"},
		"float4 *v":                 {Name: "v", Type: "float4 *", Kind: Pointer, Size: 8},
		"void *p":                   {Name: "p", Type: "void *", Kind: Pointer, Size: 8},
	} {
		s := one(t, `extern "C" __global__ void k(`+text+`) {}`)
		assert.Equal(t, []Param{want}, s.Params, text)
	}
}

func TestKernelsThatAMacroWrites(t *testing.T) {
	sigs := ScanKernels(`// #define NOT(n) extern "C" __global__ void n() {}
#define KERNEL extern "C" __global__ void
#define PROJECT(NAME, T, WIDE)                                   \
    extern "C" __global__ __launch_bounds__(WIDE * 32) void NAME( \
        const T *x, int n_##WIDE) {                               \
        project<WIDE>(x);                                         \
    }
KERNEL scale(float *x) {}
PROJECT(narrow, float, 1)
PROJECT(
    wide,
    half, 8)
NOT(commented) extern "C" __global__ void last(int PROJECT) {}
int PROJECT;
#define PROJECT(NAME) extern "C" __global__ void NAME(double d) {}
PROJECT(again)
EARLY(early)
#define EARLY(NAME) extern "C" __global__ void NAME() {}
`)
	type kernel struct {
		name, param, typ string
		line             int
	}
	var found []kernel
	for _, s := range sigs {
		found = append(found, kernel{s.Name, s.Params[len(s.Params)-1].Name, s.Params[0].Type, s.Line})
	}
	assert.Equal(t, []kernel{
		{"scale", "x", "float *", 8}, {"narrow", "n_1", "const float *", 9}, {"wide", "n_8", "const half *", 10},
		{"last", "PROJECT", "int", 13}, {"again", "d", "double", 16},
	}, found)
}

func TestBlankingKeepsOffsetsAndLines(t *testing.T) {
	for text, want := range map[string]string{
		"a // b\nc":         "a     \nc",
		"a /* b\nc */ d":    "a     \n     d",
		"a /* b":            "a     ",
		"/*/ a":             "     ",
		"/*":                "  ",
		"//":                "  ",
		`"a // b" c`:        `"      " c`,
		`"a\"b" c`:          `"    " c`,
		`'"' "'"`:           `' ' " "`,
		`"open` + "\nnext":  `"    ` + "\nnext",
		`"`:                 `"`,
		`"\`:                `" `,
		"1'000 + 0xf'f 'a'": "1'000 + 0xf'f ' '",
		"x = '0'+'1';":      "x = ' '+' ';",
		"// café\nπ":        "        \nπ",
	} {
		got := BlankComments(text)
		assert.Equal(t, want, got, text)
		assert.Len(t, got, len(text), text)
	}
	assert.Equal(t, "            \nint n;", blankDirectives("#define A 1 \nint n;", nil))
}

func TestFindKernelListsWhatThereIs(t *testing.T) {
	sigs := ScanKernels(`extern "C" __global__ void a() {} extern "C" __global__ void b() {}`)
	found, err := FindKernel("kernels.cu", sigs, "b")
	require.NoError(t, err)
	assert.Equal(t, "b", found.Name)
	_, err = FindKernel("kernels.cu", sigs, "c")
	assert.EqualError(t, err, `kernels.cu has no kernel "c"; it has a, b`)
	_, err = FindKernel("kernels.cu", nil, "c")
	assert.ErrorContains(t, err, `extern "C" __global__ void name(...)`)
}

func FuzzScanKernels(f *testing.F) {
	f.Add(`extern "C" __global__ void k(const float *x, int n[2]) { /* */ }`)
	f.Add("#if 0\n'\\\"//\\\n")
	f.Add("#define K(a, b) a##b __global__ void a(\nK(x,\ny) K K( K(1,2,3)\n")
	mutate.Corpus(f)
	f.Fuzz(func(t *testing.T, text string) {
		code := blankDirectives(BlankComments(text), nil) // no panic
		assert.Len(t, code, len(text))
		assert.Equal(t, strings.Count(text, "\n"), strings.Count(code, "\n"))
		ScanKernels(text)
	})
}

func TestScanIsQuickOnAnyFile(t *testing.T) {
	for _, text := range []string{
		`extern "C" __global__ void k(`, `extern "C" { `, `__global__ `, "1'", "#if 0\n", "/*", "{", "\"\\",
	} {
		start := time.Now()
		ScanKernels(strings.Repeat(text, 1<<18/len(text)))
		assert.Less(t, time.Since(start), 5*time.Second, text)
	}
}

// A parameter that a macro of the host's brings is there with it, and not without.
func TestParametersUnderAnIfdef(t *testing.T) {
	text := "extern \"C\" __global__ void k(const float *x,\n#ifdef PAGED\n const int *table,\n#else\n float other,\n#endif\n int n) {}\n" +
		"#ifndef SMALL\nextern \"C\" __global__ void large(int n) {}\n#else\nextern \"C\" __global__ void small(int n) {}\n#endif\n"
	for defines, want := range map[string][]string{
		"":      {"k(const float * x, float other, int n)", "large(int n)"},
		"PAGED": {"k(const float * x, const int * table, int n)", "large(int n)"},
		"SMALL": {"k(const float * x, float other, int n)", "small(int n)"},
	} {
		s := Source{Name: "k.cu", Text: text}
		if defines != "" {
			s.Defines = map[string]string{defines: "1"}
		}
		var got []string
		for _, sig := range s.Scan()[:2] {
			got = append(got, sig.String())
		}
		assert.Equal(t, want, got, defines)
	}
	unknown := Source{Name: "k.cu", Text: "#define PAGED\n" + text}
	assert.Len(t, unknown.Scan()[0].Params, 4, "the text decides, and is not read so far")
}
