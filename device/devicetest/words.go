package devicetest

import (
	_ "embed"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/tensor"
)

//go:embed words.cu
var wordKernels string

// hasHoppersWords runs what hopper.h has.
func hasHoppersWords(t *testing.T, b bench) {
	m, err := b.Compile(device.Source{Name: "words.cu", Text: wordKernels})
	require.NoError(t, err)
	b.module = m
	t.Run("Products", func(t *testing.T) {
		wrong := upload(t, b, "wrong", make([]uint32, 36))
		b.launch(t, "word_products", device.Launch{Grid: device.D1(1), Block: device.D1(128)}, wrong)
		widths, kinds := []int{8, 16, 32, 64, 96, 128, 160, 192, 256}, []string{"halves", "bfloat16", "int8", "halves by columns"}
		for i, n := range download(t, b, wrong) {
			assert.Zero(t, n, "threads with a wrong sum: wgmma<%d>, %s", widths[i/4], kinds[i%4])
		}
	})
	t.Run("Copies", func(t *testing.T) {
		in, out := upload(t, b, "in", ramp[uint32](5*256)), alloc[uint32](t, b, "out", 5*256)
		flat, err := device.NewTensorMap(in.Memory(), tensor.Float32, []int{32, 40}, []int{32, 8}, 0)
		require.NoError(t, err)
		deep, err := device.NewTensorMap(in.Memory(), tensor.Float32, []int{32, 8, 5}, []int{32, 8, 1}, 0)
		require.NoError(t, err)
		b.launch(t, "word_copies", device.Launch{Grid: device.D1(1), Block: device.D1(256)}, in, flat, deep, out)
		for i, v := range download(t, b, out) {
			require.Equal(t, uint32(2*i), v, "out[%d]", i)
		}
	})
	t.Run("Stores", func(t *testing.T) {
		out := alloc[uint16](t, b, "out", 24*64) // the second box has 8 rows outside
		to, err := device.NewTensorMap(out.Memory(), tensor.Float16, []int{64, 24, 1}, []int{64, 16, 1}, 128)
		require.NoError(t, err)
		b.launch(t, "word_stores", device.Launch{Grid: device.D1(1), Block: device.D1(32)}, to)
		for i, v := range download(t, b, out) {
			require.Equal(t, uint16(i), v, "out[%d]", i)
		}
	})
}
