package device

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/tensor"
)

func TestTensorMapsAreChecked(t *testing.T) {
	m := Memory{Addr: 1 << 20, Bytes: 2 * 64 * 10, Name: "x"}
	right, err := NewTensorMap(m, tensor.Float16, []int{64, 10}, []int{64, 8}, 128)
	require.NoError(t, err)
	assert.Equal(t, []int64{128}, right.Strides)
	for _, c := range []struct {
		change func(t *TensorMap)
		says   string
	}{
		{func(t *TensorMap) { t.Element = 200 }, `"x": its elements are float32`},
		{func(t *TensorMap) { t.Sizes = nil }, "0 dimensions: 1 to 5"},
		{func(t *TensorMap) { t.Box = []int{64} }, "2 dimensions have 1 strides and a box of 2, not 1 and 1"},
		{func(t *TensorMap) { t.Memory.Addr += 8 }, "8 bytes behind a multiple of 16"},
		{func(t *TensorMap) { t.Swizzle = 16 }, "a swizzle of 16 bytes"},
		{func(t *TensorMap) { t.Sizes[1] = 0 }, "dimension 1 has 0 elements"},
		{func(t *TensorMap) { t.Box[1] = 257 }, "the box has 257 elements in dimension 1"},
		{func(t *TensorMap) { t.Strides[0] = 136 }, "a stride of 136 bytes: it has to be a multiple of 16"},
		{func(t *TensorMap) { t.Sizes[1] = 11 }, "it ends at byte 1408, its memory at 1280"},
		{func(t *TensorMap) { t.Box[0], t.Swizzle = 36, 0 }, "the box's rows have 72 bytes"},
		{func(t *TensorMap) { t.Box[0] = 32 }, "a swizzle of 128 bytes goes with a box whose rows have as many, not 64"},
		{func(t *TensorMap) { t.Strides[0], t.Sizes[1] = 1<<39, 1<<31 }, "it is too large"},
	} {
		wrong, _ := NewTensorMap(m, tensor.Float16, []int{64, 10}, []int{64, 8}, 128)
		c.change(&wrong)
		assert.ErrorContains(t, wrong.Check(), c.says)
	}
}

func TestTensorMapsAreArguments(t *testing.T) {
	m, err := NewTensorMap(Memory{Addr: 1 << 20, Bytes: 256, Name: "x"}, tensor.Float32, []int{64}, []int{32}, 0)
	require.NoError(t, err)
	sig := params("const __grid_constant__ CUtensorMap map, int n")
	values, err := LayOut(sig, []any{m, 1})
	require.NoError(t, err)
	assert.Equal(t, &m, values[0].Map)
	again, err := LayOut(sig, []any{values[0], values[1]})
	require.NoError(t, err)
	assert.Equal(t, values, again)
	for _, c := range []struct {
		sig  string
		arg  any
		says string
	}{
		{"const __grid_constant__ CUtensorMap map", 1, "want a TensorMap"},
		{"const __grid_constant__ CUtensorMap map", Value{Size: 128}, "want a TensorMap"},
		{"const CUtensorMap map", m, "write the parameter as const __grid_constant__ CUtensorMap"},
		{"float *x", m, `got a TensorMap of "x", want a Buffer of float`},
		{"int n", Value{Size: 4, Map: &m}, "want an integer"},
		{"const __grid_constant__ CUtensorMap map", TensorMap{}, "0 dimensions"},
	} {
		_, err := LayOut(params(c.sig), []any{c.arg})
		assert.ErrorContains(t, err, c.says, c.sig)
	}
}
