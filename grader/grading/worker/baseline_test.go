package worker

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// TestSoftmaxOfTheBaseline: what a query does not see becomes 0, whichever mask hides it.
func TestSoftmaxOfTheBaseline(t *testing.T) {
	d := attntest.Device(t)
	g, err := newGauge(d)
	require.NoError(t, err)
	defer g.close()
	for _, s := range []attn.Shape{
		{SeqQ: 1, SeqK: 1},
		{SeqQ: 2, SeqK: 17},
		{SeqQ: 17, SeqK: 17, Causal: true},
		{SeqQ: 5, SeqK: 113, Causal: true},
		{SeqQ: 17, SeqK: 17, Causal: true, Window: 1},
		{SeqQ: 40, SeqK: 1000, Causal: true, Window: 300},
		{SeqQ: 3, SeqK: 17, Causal: true, Window: 18},
		{SeqQ: 1, SeqK: 113, Causal: true, Window: 40}, // a step of decoding
	} {
		of := problem.Tensor{Shape: []int{2 * s.SeqQ, s.SeqK}, Dist: tensor.Normal}
		x, err := of.Random(5)
		require.NoError(t, err)
		scores, err := device.Upload(d, "scores", x.Data)
		require.NoError(t, err)
		m := mask{s.SeqQ, s.SeqK, s.Causal, s.Window}
		narrow, err := device.Alloc[device.Float16](d, "probabilities", len(x.Data))
		require.NoError(t, err)
		require.NoError(t, g.softmaxRows(narrow.Memory(), scores.Memory(), tensor.Float16, 2*s.SeqQ, m))
		halves, err := narrow.CopyOut(d)
		require.NoError(t, err)
		require.NoError(t, g.softmaxRows(scores.Memory(), scores.Memory(), tensor.Float32, 2*s.SeqQ, m))
		got, err := scores.CopyOut(d)
		require.NoError(t, err)
		for i, h := range halves {
			require.Equal(t, device.ToFloat16(got[i]), h)
		}
		for row := range 2 * s.SeqQ {
			here := x.Data[row*s.SeqK:][:s.SeqK]
			sum := 0.0
			for j, score := range here {
				if s.Sees(row%s.SeqQ, j) {
					sum += math.Exp(float64(score))
				}
			}
			for j, score := range here {
				want := 0.0
				if s.Sees(row%s.SeqQ, j) {
					want = math.Exp(float64(score)) / sum
				}
				require.InDelta(t, want, got[row*s.SeqK+j], 1e-6, "%v, row %d, key %d", s, row, j)
			}
		}
		assert.NoError(t, d.Free(scores.Memory()))
		assert.NoError(t, d.Free(narrow.Memory()))
	}
}
