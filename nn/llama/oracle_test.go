package llama_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/task6"
	"flashlab/nn"
	"flashlab/nn/llama"
)

// TestAgainstFloat64: a prompt and steps, replayed from a graph, give the logits of
// the whole sequence computed at once.
func TestAgainstFloat64(t *testing.T) {
	for _, c := range []llama.Config{
		{Hidden: 2, Heads: 1, Layers: 1, Vocabulary: 3, MLP: 1, MaxSeq: 5, Prompt: 1, Batch: 1},
		{Hidden: 34, Heads: 1, Layers: 3, Vocabulary: 113, MLP: 17, MaxSeq: 12, Prompt: 7, Batch: 2},
		{Hidden: 64, Heads: 4, Layers: 2, Vocabulary: 61, MLP: 113, MaxSeq: 40, Prompt: 33, Batch: 3},
	} {
		t.Run(c.String(), func(t *testing.T) {
			const seed = 3
			d := attntest.Device(t)
			l, err := nn.New(device.QueueOf(d))
			require.NoError(t, err)
			k, err := nn.PlainKernels(device.QueueOf(d), l)
			require.NoError(t, err)
			m, err := llama.New(d, l, c, seed, nn.NewLayer, k)
			require.NoError(t, err)
			defer func() { assert.NoError(t, m.Close()) }()

			prompts, whole := make([][]int32, c.Batch), make([][]int, c.Batch)
			for b := range prompts {
				for i := range c.Prompt {
					token := (3*i*i + 5*i + 11*b) % c.Vocabulary
					prompts[b], whole[b] = append(prompts[b], int32(token)), append(whole[b], token)
				}
			}
			require.NoError(t, m.Prefill(prompts))
			steps := c.MaxSeq - c.Prompt
			got := make([][]float32, c.Batch)
			for i := range steps + 1 {
				logits, err := m.Logits()
				require.NoError(t, err)
				for b := range got {
					got[b] = append(got[b], logits[b*c.Vocabulary:(b+1)*c.Vocabulary]...)
				}
				if i == steps {
					break
				}
				next, err := m.Next()
				require.NoError(t, err)
				for b := range next {
					whole[b] = append(whole[b], int(next[b]))
				}
				require.NoError(t, m.Step())
			}
			attntest.Findings(t, d)
			assert.True(t, m.Recorded())

			var values [][]float32
			for _, w := range c.Weights() {
				v, err := w.Values(seed)
				require.NoError(t, err)
				values = append(values, v)
			}
			weights := task6.NewLlama(task6.LlamaShape{Hidden: c.Hidden, Heads: c.Heads, Layers: c.Layers, MLP: c.MLP,
				Rotary: llama.Base, Epsilon: llama.Epsilon}, values)
			for b := range got {
				truth := judge.Truth{Layout: judge.Layout{Outer: steps + 1, Len: c.Vocabulary, Inner: 1},
					Want:  task6.Logits[float64](weights, whole[b], c.Prompt-1, task6.Slip{}),
					Plain: task6.Logits[float32](weights, whole[b], c.Prompt-1, task6.Slip{})}
				j := truth.Judge(got[b])
				assert.True(t, j.Passed, "sequence %d: error %.2g, allowed %.2g", b, j.Error, j.Bound)
				t.Logf("sequence %d: error %.2g, allowed %.2g", b, j.Error, j.Bound)
			}
		})
	}
}
