package pace

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"flashlab/device"
	"flashlab/device/sim"
	"flashlab/device/trace"
	"flashlab/nn/llama"
)

// prompts are as long as the model takes, and different.
func prompts(c llama.Config) [][]int32 {
	all := make([][]int32, c.Batch)
	for b := range all {
		for i := range c.Prompt {
			all[b] = append(all[b], int32((i*i+7*i+13*b)%c.Vocabulary))
		}
	}
	return all
}

// answer runs the model on new sequences: a prompt, then tokens one by one. Each
// token is fetched, as it would be for somebody reading along. done is told how
// long each token took, and what it is for each sequence.
func answer(m *llama.Model, tokens int, done func(i int, took time.Duration, next []int32)) error {
	m.Reset()
	p := prompts(m.Config)
	for i := range tokens + 1 {
		start := time.Now()
		var err error
		if i == 0 {
			err = m.Prefill(p)
		} else {
			err = m.Step()
		}
		if err != nil {
			return err
		}
		next, err := m.Next()
		if err != nil {
			return err
		}
		done(i, time.Since(start), next)
		if slices.Contains(next, -1) {
			return fmt.Errorf("after %d tokens the logits hold a NaN: there is a mistake in a kernel or in the layer (make grade looks at them by themselves)", m.Position())
		}
	}
	return nil
}

// warm is how many tokens are written first: the first step may allocate, the
// second is recorded.
const warm = 3

// rounds is how often a prompt is timed.
const rounds = 5

// times measures on a GPU.
func times(w io.Writer, m *llama.Model, d device.Device, tokens int, asJSON bool) error {
	if err := answer(m, warm, func(int, time.Duration, []int32) {}); err != nil {
		return err
	}
	var first, each []time.Duration
	var written [][]int32
	for range rounds {
		if err := answer(m, 1, func(i int, took time.Duration, _ []int32) {
			if i == 0 {
				first = append(first, took)
			}
		}); err != nil {
			return err
		}
	}
	if err := answer(m, tokens, func(i int, took time.Duration, next []int32) {
		written = append(written, next)
		if i > 0 {
			each = append(each, took)
		}
	}); err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		return err
	}
	slices.Sort(first)
	slices.Sort(each)
	var sum time.Duration
	for _, t := range each {
		sum += t
	}
	mean := sum / time.Duration(len(each))
	work := Work{Prompt: m.Operations(), Token: float64(m.Reads(m.Prompt + tokens/2))}
	fmt.Fprintf(w, "time to the first token (TTFT), a prompt of %d × %d tokens: %s (median of %d; %s to %s), %.1f TFLOP/s\n",
		m.Batch, m.Prompt, short(first[len(first)/2]), len(first), short(first[0]), short(first[len(first)-1]),
		work.Prompt/first[len(first)/2].Seconds()/1e12)
	fmt.Fprintf(w, "time between tokens (TBT), over %d: mean %s, median %s, 95th percentile %s\n",
		len(each), short(mean), short(each[len(each)/2]), short(each[len(each)*95/100]))
	fmt.Fprintf(w, "%.1f tokens/s of %d sequences together; weights and cache, read once a token: %.2f TB/s\n",
		float64(m.Batch)/mean.Seconds(), m.Batch, work.Token/mean.Seconds()/1e12)
	recorded(w, m)
	if asJSON {
		return Times{first, each, written, &work}.Write(w)
	}
	return nil
}

func recorded(w io.Writer, m *llama.Model) {
	if m.Direct != nil {
		fmt.Fprintf(w, "a decoding step is not recorded as a graph: %v\n", m.Direct)
	}
}

// traffic is what can be said in the simulator.
func traffic(w io.Writer, m *llama.Model, s *sim.Device, tokens int, asJSON bool) error {
	var written [][]int32
	var moved []uint64
	var launches []int
	last := trace.Counts{}
	var failed error
	look := func(_ int, _ time.Duration, next []int32) {
		written = append(written, next)
		now, err := total(s)
		failed = errors.Join(failed, err)
		moved = append(moved, now.SectorsRead+now.SectorsWritten-last.SectorsRead-last.SectorsWritten)
		launches = append(launches, now.Launches-last.Launches)
		last = now
	}
	last, failed = total(s)
	if err := answer(m, tokens, look); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	weights, _, _ := m.Bytes()
	mean := 0.0
	for _, n := range moved[1:] {
		mean += 32 * float64(n) / float64(tokens)
	}
	fmt.Fprintf(w, "prompt of %d × %d tokens: %s moved to and from device memory, in %d launches\n",
		m.Batch, m.Prompt, amount(32*moved[0]), launches[0])
	fmt.Fprintf(w, "a decoded token, mean of %d: %s (the weights alone are %s), in %d launches\n",
		tokens, amount(uint64(mean)), amount(weights), launches[len(launches)-1])
	recorded(w, m)
	fmt.Fprintln(w, "times mean nothing in the simulator: TTFT and TBT need a GPU")
	if asJSON {
		return Times{Tokens: written}.Write(w)
	}
	return nil
}

// total sums what all kernels did so far.
func total(s *sim.Device) (sum trace.Counts, err error) {
	r, err := s.Report()
	if err != nil {
		return sum, err
	}
	for _, c := range r.Launches {
		sum.Launches += c.Launches
		sum.SectorsRead += c.SectorsRead
		sum.SectorsWritten += c.SectorsWritten
	}
	return sum, nil
}

// short rounds a time to three digits or so.
func short(d time.Duration) string {
	for unit := time.Second; unit >= time.Microsecond; unit /= 10 {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}
