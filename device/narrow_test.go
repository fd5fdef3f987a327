package device

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNarrowElements(t *testing.T) {
	assert.EqualValues(t, 0x3c00, ToFloat16(1))
	assert.EqualValues(t, 0x3f80, ToBFloat16(1))
	assert.Equal(t, float32(65504), Float16(0x7bff).Float32())
	assert.Equal(t, float32(-2), BFloat16(0xc000).Float32())
	for first := int8(-8); first < 8; first++ {
		for second := int8(-8); second < 8; second++ {
			a, b := ToInt4Pair(first, second).Numbers()
			assert.Equal(t, []int8{first, second}, []int8{a, b})
		}
	}
	assert.EqualValues(t, 0x21, ToInt4Pair(1, 2))
}

// TestNarrowArguments: a buffer goes where a kernel has its type, and a number's bits nowhere.
func TestNarrowArguments(t *testing.T) {
	h := &heap{bytes: make([]byte, 16)}
	halves, err := Upload(h, "q", []Float16{1, 2})
	require.NoError(t, err)
	assert.EqualValues(t, 4, halves.Memory().Bytes)
	bytes, err := Upload(h, "w", []int8{-1, 2})
	require.NoError(t, err)
	pairs, err := Upload(h, "p", []Int4Pair{0x21})
	require.NoError(t, err)
	sig := ScanKernels(`extern "C" __global__ void k(const __half *q, const signed char *w, const uint8_t *p, int n) {}`)[0]
	_, err = LayOut(sig, []any{halves, bytes, pairs, 3})
	require.NoError(t, err)
	_, err = LayOut(sig, []any{halves, bytes, pairs, ToFloat16(3)})
	assert.ErrorContains(t, err, "pass x.Float32()")
	_, err = LayOut(sig, []any{bytes, bytes, pairs, 3})
	assert.ErrorContains(t, err, `the buffer "w" holds char, want half`)
	other, err := Upload(h, "b", []BFloat16{1})
	require.NoError(t, err)
	_, err = LayOut(sig, []any{other, bytes, pairs, 3})
	assert.ErrorContains(t, err, `holds __nv_bfloat16, want half`)
}
