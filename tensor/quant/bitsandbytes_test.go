package quant

import (
	"math"
	"os"
	"testing"

	"github.com/sbinet/npyio"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func golden[T any](t *testing.T, name string) (x []T) {
	t.Helper()
	f, err := os.Open("testdata/nf4_" + name + ".npy")
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, npyio.Read(f, &x))
	return x
}

// TestNF4AsBitsandbytes: bit for bit what its package made (testdata/nf4.py), but for the mean
// of the scales, which depends on the order in which a machine adds them.
func TestNF4AsBitsandbytes(t *testing.T) {
	x := golden[float32](t, "x")
	plain, err := ToNF4(x, false)
	require.NoError(t, err)
	assert.Equal(t, golden[uint8](t, "plain_codes"), plain.Codes)
	assert.Equal(t, golden[float32](t, "plain_scales"), plain.Scales)
	assert.Equal(t, golden[float32](t, "table"), []float32(DynamicTable))

	n, err := ToNF4(x, true)
	require.NoError(t, err)
	assert.Equal(t, golden[uint8](t, "double_codes"), n.Codes)
	mean := golden[float32](t, "mean")[0]
	assert.InDelta(t, mean, n.Double.Mean, math.Abs(float64(mean))*0x1p-22)
	assert.Equal(t, golden[uint8](t, "double_scales"), n.Double.Codes)
	second := golden[float32](t, "second")
	require.Len(t, n.Double.Scales, len(second))
	for i, want := range second {
		assert.InDelta(t, want, n.Double.Scales[i], float64(mean)*0x1p-22)
	}
	n.Double.Mean, n.Double.Scales = mean, second
	assert.Equal(t, golden[float32](t, "numbers"), n.Numbers(), "with its mean, to the bit")
}
