package device

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCompiled(t *testing.T) {
	sig := Signature{Name: "k", Params: ParseParams("float *x, real r, Mode m, half h, Line line, size n")}
	got := sig.Compiled("p8 f4 i4 o2 o12 u8").Params
	assert.Equal(t, sig.Params[0], got[0], "the text has told of it all")
	assert.Equal(t, Param{Name: "r", Type: "real", Kind: Float, Size: 4}, got[1])
	assert.Equal(t, Param{Name: "m", Type: "Mode", Kind: Int, Size: 4}, got[2])
	assert.Equal(t, "half", got[3].Elem)
	assert.Equal(t, Param{Name: "line", Type: "Line", Kind: Other, Size: 12}, got[4])
	assert.Equal(t, Param{Name: "n", Type: "size", Kind: Int, Size: 8, Unsigned: true}, got[5])
	assert.Zero(t, sig.Params[1].Size, "the signature before stays as it was")

	// Of several templates the text does not tell which one it is.
	assert.Equal(t, "k(pointer, unsigned integer, struct)", Signature{Name: "k"}.Compiled("p8 u4 o16").String())
	assert.Empty(t, sig.Compiled("").Params)
}

func TestHasMangled(t *testing.T) {
	for text, want := range map[string]bool{
		`extern "C" __global__ void k(float *x) {}`:                                 false,
		"extern \"C\" {\n__device__ int n;\n__global__ void k(float *x) {}\n}":      false,
		`// __global__ void k(float *x) {}`:                                         false,
		`__global__ void k(float *x) {}`:                                            true,
		`extern "C" __global__ void k(float *x) {} __global__ void l(float *x) {}`:  true,
		`#define K(name) extern "C" __global__ void name(float *x) {}` + "\nK(k)\n": false,
		`#define K(name) __global__ void name(float *x) {}` + "\nK(k)\n":            true,
	} {
		assert.Equal(t, want, Source{Text: text}.HasMangled(), text)
		assert.Equal(t, want, Source{Files: map[string]string{"k.cuh": text}}.HasMangled(), text)
	}
	assert.True(t, Source{Kernels: []string{"k"}}.HasMangled())
}
