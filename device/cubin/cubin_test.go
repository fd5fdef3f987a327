package cubin_test

import (
	"bytes"
	"debug/elf"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/cubin"
	"flashlab/device/nvcc"
)

const text = `template <typename T, int N> __global__ void scale(T *x, const T *y, int n) { x[n] = y[n] * T(N); }
namespace { template <int N> __global__ void fill(float *x) { x[N] = 1; } }
__global__ void plain(float *x) { x[0] = 1; }
extern "C" __global__ void c(float *x, int n) { x[n] = 1; }
`

func source() device.Source {
	return device.Source{Name: "k.cu", Text: text, Kernels: []string{"scale<float, 3>", "fill<2>"}}
}

// code is the source's machine code; without nvcc a test is skipped.
func code(t *testing.T) []byte {
	t.Helper()
	tk, err := nvcc.Find()
	if err != nil {
		t.Skip(err)
	}
	t.Setenv("FLASHLAB_CACHE", t.TempDir())
	made, err := tk.Compile(source(), "sm_90")
	require.NoError(t, err)
	return made
}

func TestTable(t *testing.T) {
	table, err := cubin.NewTable(source().Name, source().Scan(), code(t))
	require.NoError(t, err)
	for _, c := range []struct {
		name, symbol, signature string
		known                   bool
	}{
		{"scale<float, 3>", `^_Z5scaleIfLi3EEvPT_PKS0_i$`, "scale<float, 3>(T * x, const T * y, int n)", true},
		{"fill<2>", `^_ZN\d+_GLOBAL__N__.*4fillILi2EEEvPf$`, "fill<2>(float * x)", true},
		{"plain", `^_Z5plainPf$`, "plain(float * x)", true},
		{"c", `^c$`, "c(float * x, int n)", false},
	} {
		sig, symbol, known, err := table.Find(c.name)
		require.NoError(t, err)
		assert.Regexp(t, c.symbol, symbol)
		assert.Equal(t, c.signature, sig.String())
		assert.Equal(t, c.known, known)
	}
	_, _, _, err = table.Find("scale<float, 4>")
	assert.EqualError(t, err, `k.cu has no kernel "scale<float, 4>"; it has c, plain, scale<float, 3>, fill<2>. Of templates it has those that Source.Kernels asks for, by the same words`)
	assert.Len(t, table.Texts("c"), 1)
	assert.Empty(t, table.Texts("plain"))
}

// A worker reads what another process sends it: nothing of it may end the reader.
func TestBrokenCode(t *testing.T) {
	whole := code(t)
	for n := 0; n < len(whole); n += 7 {
		_, _ = cubin.Kernels(whole[:n])
		changed := bytes.Clone(whole)
		changed[n] ^= 0xff
		_, _ = cubin.Kernels(changed)
	}
	_, err := cubin.Kernels(whole[:len(whole)/2])
	assert.ErrorContains(t, err, "machine code: ")

	for _, c := range []struct{ from, to, want string }{
		{"\nscale<float, 3>\x00", "\x00scale<float, 3>\x00", "machine code: kernel 1: its signature reads "},
		{"flashlab_signature_0", "flashlab_signature_X", "machine code: kernel 0: a constant is missing"},
	} {
		changed := bytes.ReplaceAll(whole, []byte(c.from), []byte(c.to))
		require.NotEqual(t, whole, changed)
		_, err := cubin.Kernels(changed)
		assert.ErrorContains(t, err, c.want)
	}
}

// What is no kernel of the machine code's has no name in it.
func TestOnlyKernelsHaveNames(t *testing.T) {
	whole := code(t)
	f, err := elf.NewFile(bytes.NewReader(whole))
	require.NoError(t, err)
	symbols, err := f.Symbols()
	require.NoError(t, err)
	at := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == "_Z5plainPf" })
	require.GreaterOrEqual(t, at, 0)
	const size, other = elf.Sym64Size, 5
	whole[int(f.SectionByType(elf.SHT_SYMTAB).Offset)+(at+1)*size+other] = 0
	found, err := cubin.Kernels(whole)
	require.NoError(t, err)
	names := map[string]string{}
	for _, k := range found {
		names[k.Signature.Name] = k.Symbol
	}
	assert.Len(t, names, 3)
	assert.Empty(t, names["plain"])
	assert.Equal(t, "_Z5scaleIfLi3EEvPT_PKS0_i", names["scale<float, 3>"])
}
