package gpt2

// The public checks: `go test ./task7_gpt2`. They compare GPT-2 on your kernels with
// GPT-2 in plain Go. `make grade TASK=7` says more: which task is at fault, and
// where.

import (
	"errors"
	"math"
	"testing"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/gpt2"
	"flashlab/nn/lm"
	flash "flashlab/task4_flash"
	decode "flashlab/task5_decode"
	e2e "flashlab/task6_e2e"
)

// TestRandomModel compares the logits after a prompt, and after tokens that
// follow it.
func TestRandomModel(t *testing.T) {
	config := gpt2.Config{Width: 48, Heads: 3, Layers: 2, Positions: 40, Vocabulary: 113, Inner: 192, Epsilon: 1e-5}
	weights, err := gpt2.Random(config, 1)
	if err != nil {
		t.Fatal(err)
	}
	yours, plain := both(t, weights)
	for _, prompt := range [][]int32{{7}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2}} {
		must(t, yours.Prefill(prompt))
		must(t, plain.Prefill(prompt))
		compare(t, yours, plain, "behind a prompt of %d tokens", len(prompt))
		for i, token := range []int32{11, 12, 13, 14} {
			must(t, yours.Step(token))
			must(t, plain.Step(token))
			compare(t, yours, plain, "%d tokens behind a prompt of %d", i+1, len(prompt))
		}
	}
}

// TestTheCoursesModel compares what it writes.
func TestTheCoursesModel(t *testing.T) {
	weights, err := gpt2.Bundled(Model())
	if err != nil {
		t.Fatal(err)
	}
	yours, plain := both(t, weights)
	var texts [2][]int32
	for i, m := range []gpt2.LM{yours, plain} {
		_, err := lm.Generate(m, lm.Generation{Prompt: []int32{84, 104, 101}, Tokens: 8, Stop: -1,
			Emit: func(token int32) error { texts[i] = append(texts[i], token); return nil }})
		must(t, err)
	}
	for i, want := range texts[1] {
		if got := texts[0][i]; got != want {
			t.Fatalf("token %d is %d on your kernels, and %d in plain Go; all: %v and %v", i, got, want, texts[0], texts[1])
		}
	}
}

// both returns GPT-2 on the files of tasks 4, 5 and 6, and GPT-2 in plain Go.
func both(t *testing.T, w gpt2.Weights) (*gpt2.Model, *gpt2.Reference) {
	t.Helper()
	d := attntest.Device(t)
	q := device.QueueOf(d)
	layers, err := nn.New(q)
	must(t, err)
	prefill, err := flash.New(q)
	must(t, err)
	decoder, err := decode.New(q)
	must(t, err)
	m, err := gpt2.New(d, layers, w, e2e.New, attn.Kernels{Prefill: prefill, Decode: decoder, Rearranger: layers})
	must(t, err)
	t.Cleanup(func() { _ = m.Close() })
	r, err := gpt2.NewReference(w, nil)
	must(t, err)
	return m, r
}

// must stops the test if there is an error.
func must(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, attn.ErrNotImplemented) {
		t.Fatalf("%v: one of task4_flash, task5_decode and task6_e2e is still the stub; 'make grade TASK=7' says which", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func compare(t *testing.T, yours, plain gpt2.LM, where string, args ...any) {
	t.Helper()
	got, err := yours.Logits()
	must(t, err)
	want, err := plain.Logits()
	must(t, err)
	var diff, size float64
	for i := range want {
		diff += math.Pow(float64(got[i]-want[i]), 2)
		size += math.Pow(float64(want[i]), 2)
	}
	if off := math.Sqrt(diff / size); !(off < 1e-4) { // true for NaN
		t.Errorf(where+": the logits differ by %.2g of their size from those in plain Go", append(args, off)...)
	}
}
