package reference

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/tensor"
)

func whole(q, k, v *tensor.Tensor, heads int, causal bool, want []float32, hint string) step {
	return step{"Attention", func() (*tensor.Tensor, error) { return Attention(q, k, v, heads, causal) },
		[]*tensor.Tensor{q, k, v}, q.Shape, want, hint}
}

// random is a tensor of bell-shaped numbers, the same at each run.
func random(t *testing.T, stream uint32, shape ...int) *tensor.Tensor {
	t.Helper()
	x, err := tensor.Random(tensor.Normal, 1, stream, shape...)
	require.NoError(t, err)
	return x
}

func TestAttentionByHand(t *testing.T) {
	ln3 := float32(math.Log(3))
	q := of(t, []float32{0, ln3}, 1, 2, 1)
	k := of(t, []float32{0, 1}, 1, 2, 1)
	v := of(t, []float32{100, 200}, 1, 2, 1)
	whole(q, k, v, 1, false, []float32{150, 175},
		"query 0 scores 0 0, so it weighs both alike; query 1 scores 0 and ln 3: weights 1/4 and 3/4").check(t)
	whole(q, k, v, 1, true, []float32{100, 175}, "with the mask, query 0 sees key 0 alone, and gets its value").check(t)
}

// TestAttentionAverages needs no mental softmax: with identical keys, all weights
// are equal, and the result is an average of values.
func TestAttentionAverages(t *testing.T) {
	const batch, seq, heads, dim = 2, 5, 3, 2
	q := random(t, 0, batch, seq, heads*dim)
	k := tensor.New(batch, seq, heads*dim)
	v := random(t, 2, batch, seq, heads*dim)
	for _, causal := range []bool{false, true} {
		var want []float32
		for b := range batch {
			for i := range seq {
				seen := seq
				if causal {
					seen = i + 1
				}
				for c := range heads * dim {
					var sum float32
					for j := range seen {
						sum += v.Data[(b*seq+j)*heads*dim+c]
					}
					want = append(want, sum/float32(seen))
				}
			}
		}
		hint := "all keys are alike, so each query gets the plain average of the values"
		if causal {
			hint += " that it sees: of the first, of the first two, and so on"
		}
		whole(q, k, v, heads, causal, want, hint).check(t)
	}
}

// TestHeadsAreIndependent: a head among many gives the same result as it does alone.
func TestHeadsAreIndependent(t *testing.T) {
	const seq, heads, dim = 7, 3, 5
	q, k, v := random(t, 3, 1, seq, heads*dim), random(t, 4, 1, seq, heads*dim), random(t, 5, 1, seq, heads*dim)
	whole(q, k, v, heads, true, nil, "").check(t)
	together, err := Attention(q, k, v, heads, true)
	require.NoError(t, err)
	part := func(x *tensor.Tensor, h int) *tensor.Tensor {
		p := tensor.New(1, seq, dim)
		for i := range seq {
			copy(p.Data[i*dim:(i+1)*dim], x.Data[(i*heads+h)*dim:])
		}
		return p
	}
	for h := range heads {
		whole(part(q, h), part(k, h), part(v, h), 1, true, part(together, h).Data,
			"wanted is what this head gave among others: do heads mix, or does the scale depend on hidden instead of dim?").check(t)
	}
}

// TestSelfAttention runs your Attention within a layer, as a model does.
func TestSelfAttention(t *testing.T) {
	layer, err := RandomMultiHead(12, 4, true, 1)
	require.NoError(t, err)
	x := random(t, 6, 2, 3, 12)
	step{"Attention", func() (*tensor.Tensor, error) { return layer.SelfAttention(x) }, []*tensor.Tensor{x}, x.Shape, nil, ""}.check(t)
	y, err := layer.SelfAttention(x)
	require.NoError(t, err)
	x.Data[2*12] += 5 // the last position of the first sequence
	z, err := layer.SelfAttention(x)
	require.NoError(t, err)
	for i := range 2 * 12 {
		require.InDelta(t, y.Data[i], z.Data[i], 1e-6, "position %d changed with a later one, which it must not see", i/12)
	}
}
