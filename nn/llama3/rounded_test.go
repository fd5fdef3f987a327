package llama3

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/tensor/quant"
)

func unrounded(t *testing.T) *Reference {
	w, err := Random(Config{Width: 24, Heads: 6, KVHeads: 2, Dim: 8, Layers: 2, Inner: 40, Positions: 100, Vocabulary: 60, Epsilon: 1e-5, Rotary: 10000, Begin: -1}, 2)
	require.NoError(t, err)
	r, err := NewReference(w)
	require.NoError(t, err)
	return r
}

var seventy = func() (all []int32) {
	for i := range 70 {
		all = append(all, int32(i*i%60))
	}
	return all
}()

func logitsOf(t *testing.T, r *Reference, text []int32) []float32 {
	require.NoError(t, r.Prefill(text))
	return slices.Clone(r.logits)
}

// TestCachesStepByStep: a cache reads the same back whether a text came at once or token by token, and each kind is
// another, the more bits the nearer.
func TestCachesStepByStep(t *testing.T) {
	r := unrounded(t)
	exact, apart := logitsOf(t, r, seventy), map[string]float64{}
	for _, cache := range quant.Caches {
		m, err := r.Fork(cache)
		require.NoError(t, err)
		whole := logitsOf(t, m, seventy)
		require.NoError(t, m.Prefill(seventy[:1]))
		for _, token := range seventy[1:] {
			require.NoError(t, m.Step(token))
		}
		// A layer reads its cache as it was at each step: an INT4 code may fall to the other side of a tie of float32 sums.
		assert.Less(t, quant.Error(whole, m.logits), 1e-3, cache)
		apart[cache] = quant.Error(exact, whole)
	}
	assert.Less(t, apart["halves"], 1e-2)
	assert.Less(t, apart["halves"], apart["int8"])
	assert.Less(t, apart["int8"], apart["int4"])
	assert.Less(t, apart["int8"], apart["kivi"])
	_, err := r.Fork("int3")
	assert.ErrorContains(t, err, `there is no cache "int3"`)
	assert.Equal(t, exact, logitsOf(t, r, seventy), "forks leave the model as it is")
}

// TestThroughSeesEveryMatrix: once each, in the layers' order, with the inputs of all texts; what replaces a matrix is
// used, by this model alone.
func TestThroughSeesEveryMatrix(t *testing.T) {
	r := unrounded(t)
	m, err := r.Fork("")
	require.NoError(t, err)
	var names, want []string
	inputs := map[string]Tensor{}
	for _, one := range m.Config().InLayers() {
		want, inputs[one.Name] = append(want, one.Name), one
	}
	exact := logitsOf(t, r, seventy)
	require.NoError(t, m.Through([][]int32{seventy[:30], seventy[:30], seventy[:10]}, func(name string, x []float32) error {
		names = append(names, name)
		in := inputs[name].Shape[1]
		require.Len(t, x, 70*in)
		assert.Equal(t, x[:30*in], x[30*in:60*in], "each text begins afresh")
		assert.InDeltaSlice(t, x[:10*in], x[60*in:], 1e-5)
		return m.Replace(inputs[name], make([]float32, inputs[name].Elements()))
	}))
	assert.Equal(t, want, names)
	assert.NotEqual(t, exact, logitsOf(t, m, seventy))
	assert.Equal(t, exact, logitsOf(t, r, seventy))

	assert.ErrorContains(t, m.Replace(inputs[want[0]], nil), "0 numbers for the weight")
	refused := errors.New("refused")
	assert.ErrorIs(t, m.Through([][]int32{{1}}, func(string, []float32) error { return refused }), refused)
	assert.ErrorContains(t, m.Through([][]int32{{60}}, nil), "the model knows 0 to 59")
}

// TestKeptWeights: matrices of layers read back from a format, wherever a piece begins; all else as it was.
func TestKeptWeights(t *testing.T) {
	w, err := Random(unrounded(t).Config(), 2)
	require.NoError(t, err)
	for _, format := range Formats() {
		k, err := Kept(w, format)
		require.NoError(t, err)
		assert.Contains(t, k.About(), "the layers' matrices in "+format)
		for _, one := range w.Config().Tensors() {
			was, err := Whole(w, one)
			require.NoError(t, err)
			is, err := Whole(k, one)
			require.NoError(t, err)
			if !slices.ContainsFunc(w.Config().InLayers(), func(m Tensor) bool { return m.Name == one.Name }) {
				require.Equal(t, was, is, one.Name)
				continue
			}
			e, err := Encode(format, was, one.Shape[1])
			require.NoError(t, err)
			require.Equal(t, e.Numbers(), is, "%s: %s", format, one.Name)
			require.NotEqual(t, was, is)
			part := make([]float32, len(is)/3)
			require.NoError(t, k.Read(one, 5, part))
			require.Equal(t, is[5:5+len(part)], part)
		}
	}
	_, err = Kept(w, "int3")
	assert.EqualError(t, err, `there is no format "int3" of weights; there is int4, int4-zeros, mxfp4, nf4, nf4-double, nvfp4`)
}
