package gpt2

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkStep times decoding steps of a random 124M on a GPU, one right behind the other and none fetched, in the ways
// that FLASHLAB_STEPS names (as StepBy takes them, with semicolons between). An event before and one behind tell the
// time; each way writes the same tokens as the first, or the benchmark fails.
//
//	go test -tags cuda ./nn/gpt2 -run xxx -bench Step -benchtime 3x
func BenchmarkStep(b *testing.B) {
	const prompt, steps = 512, 200
	d, m := on124M(b, InHalves{random124M}) // so that "persistent,bits=16" has the same weights
	text := someText(prompt)
	ways := os.Getenv("FLASHLAB_STEPS")
	if ways == "" {
		ways = "graph;persistent"
	}
	start, err := d.NewEvent()
	require.NoError(b, err)
	end, err := d.NewEvent()
	require.NoError(b, err)
	var first []int32
	for way := range strings.SplitSeq(ways, ";") {
		b.Run(way, func(b *testing.B) {
			require.NoError(b, m.StepBy(way))
			require.NoError(b, m.Prefill(text))
			var tokens []int32
			for range 16 {
				token, err := m.Greedy()
				require.NoError(b, err)
				tokens = append(tokens, token)
				require.NoError(b, m.Step(token))
			}
			if first == nil {
				first = tokens
			}
			require.Equal(b, first, tokens, "the same tokens as in the first way")
			var took time.Duration
			for b.Loop() {
				require.NoError(b, m.Prefill(text))
				require.NoError(b, d.Sync())
				require.NoError(b, start.Record())
				for range steps {
					require.NoError(b, m.step())
				}
				require.NoError(b, end.Record())
				one, err := end.Since(start)
				require.NoError(b, err)
				took += one
			}
			b.ReportMetric(took.Seconds()*1e6/float64(steps*b.N), "µs/step")
		})
	}
}
