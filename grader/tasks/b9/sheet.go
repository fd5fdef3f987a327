package b9

import (
	"fmt"
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/b9/sizes"
	"flashlab/nn/kit"
	"flashlab/tensor"
)

// How far a prediction may be from what follows of its own numbers, and of the bytes that a step reads.
const (
	ofBytes = 0.02   // Read
	ofGain  = 0.02   // what a step gains beyond 1, beside that of its own share and factor
	digits  = 0.0005 // of a gain that is written with three digits behind the point
	ofShare = 0.25   // a share of the time, beside that of the bytes
)

// reads are the bytes of a step that reads everything once.
type reads struct{ matrices, head, cache float64 }

func (r reads) all() float64 { return r.matrices + r.head + r.cache }

func readsOf(c kit.Config, w sizes.Way, tokens int) reads {
	numbers := float64(c.Layers * (c.Elements(kit.QKV) + c.Elements(kit.Out) + c.Elements(kit.GateUp) + c.Elements(kit.Down)))
	r := reads{matrices: 2 * numbers, head: float64(2 * c.Elements(kit.Head))}
	if w.INT4 {
		r.matrices = numbers * (4 + 16.0/kit.WeightGroup) / 8
	}
	slots := float64(c.Layers * c.Batch * c.KVHeads) // one of each sequence, head and layer
	r.cache = slots * float64(4*tokens*c.Dim)
	if w.KIVI {
		full := float64(tokens / kit.CacheGroup * kit.CacheGroup)
		dim, open := float64(c.Dim), float64(tokens)-full
		r.cache = slots * (full*(dim+4*dim/kit.CacheGroup+4) + 4*open*dim)
	}
	return r
}

// readsOp asks for the bytes that a step reads.
var readsOp = judge.Op{
	Name:  "reads",
	Sizes: []string{"way", "batch", "steps", "layers", "hidden", "heads", "kvheads", "dim", "mlp", "vocabulary"},
	Rules: rules,
	Tensors: func(problem.Problem) (in, out []problem.Tensor) {
		return nil, []problem.Tensor{{Name: "reads", Shape: []int{3}}}
	},
	Judge: func(c problem.Problem, _ []*tensor.Tensor, out problem.Answer) judge.Ruling {
		config, tokens, got := sizes.Config(c), c.Sizes["steps"], out.Tensors[0].Data
		w := readsOf(config, sizes.Of(c), tokens)
		v := judge.Ruling{Passed: true}
		for i, want := range []float64{w.matrices, w.head, w.cache} {
			off := math.Abs(float64(got[i])-want) / want
			if off <= ofBytes { // a NaN is not
				v.Error = max(v.Error, off)
				continue
			}
			v = judge.Ruling{
				Reason: fmt.Sprintf("Read says %.6g bytes for %s, and it is %.6g", got[i], []string{"Matrices", "Head", "Cache"}[i], want) + whyReads(i, float64(got[i]), config, sizes.Of(c), tokens),
				Details: []string{fmt.Sprintf("%v, after %d tokens: %+v", sizes.Of(c), tokens, config),
					"each weight, and each token's keys and values, read once; within 2 %"}}
			break
		}
		if v.Passed {
			v.Bound = ofBytes
		}
		return v
	},
	Least: judge.Once,
}

// whyReads recognises what was forgotten.
func whyReads(part int, got float64, c kit.Config, w sizes.Way, tokens int) string {
	is := func(x float64) bool { return math.Abs(got-x) <= 0.005*x }
	r, halves := readsOf(c, w, tokens), readsOf(c, sizes.Way{}, tokens)
	slots := float64(c.Layers * c.Batch * c.KVHeads)
	full := float64(tokens / kit.CacheGroup * kit.CacheGroup)
	for _, l := range []struct {
		part  int
		bytes float64
		says  string
	}{
		{0, halves.matrices / 4, "scales are missing: 32 weights of four bits have one, a half"},
		{0, halves.matrices, "these matrices have four bits"},
		{0, r.matrices / float64(c.Layers), "it is of one layer"},
		{0, r.matrices * float64(c.Batch), "weights are read once for all sequences"},
		{2, r.cache / 2, "K and V are both read"},
		{2, r.cache / float64(c.Layers), "it is of one layer"},
		{2, r.cache / float64(c.Batch), "every sequence has its own cache"},
		{2, r.cache * float64(c.Heads/c.KVHeads), "query heads that share keys read them once"},
		{2, halves.cache, "this cache has four bits"},
		{2, halves.cache / 4, "scales, lows and the open group are missing"},
		{2, slots * full * (float64(c.Dim) + 4*float64(c.Dim)/kit.CacheGroup + 4), "the open group, in halves, is missing"},
	} {
		if l.part == part && is(l.bytes) {
			return ": " + l.says
		}
	}
	return ""
}

// predicted is one line of a sheet.
type predicted struct{ share, faster, gain float64 }

// follows tells whether a gain is that of some shares.
func follows(gain float64, of ...predicted) bool {
	want := amdahl(of...)
	return math.Abs(gain-want) <= ofGain*math.Abs(want-1)+digits // a NaN is not
}

func amdahl(all ...predicted) float64 {
	left := 1.0
	for _, p := range all {
		left += p.share/p.faster - p.share
	}
	return 1 / left
}

// workloads are those of the sheet: what bonus/b9_quantized/source.go has.
var workloads = []struct{ batch, tokens int }{{1, 768}, {16, 768}, {16, 8192}}

func llama(batch, tokens int) kit.Config {
	return kit.Config{Batch: batch, Slots: tokens, Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, Dim: 128, MLP: 14336, Vocabulary: 128256}
}

// sheetOp looks at the predictions: filled in, within what bytes allow, and each gain that of its own share.
var sheetOp = judge.Op{
	Name:  "sheet",
	Sizes: []string{"workload"},
	Rules: func(c problem.Problem) error {
		if n := c.Sizes["workload"]; n > len(workloads) {
			return fmt.Errorf("workload %d: the sheet has %d", n, len(workloads))
		}
		return nil
	},
	Tensors: func(problem.Problem) (in, out []problem.Tensor) {
		return nil, []problem.Tensor{{Name: "sheet", Shape: []int{10}}}
	},
	Judge: func(c problem.Problem, _ []*tensor.Tensor, out problem.Answer) judge.Ruling {
		w := workloads[c.Sizes["workload"]-1]
		if says := faults(w.batch, w.tokens, out.Tensors[0].Data); says != "" {
			return judge.Ruling{Reason: says, Details: []string{fmt.Sprintf("Sheets[%d]: a step of Llama 3.1 8B, %d × %d tokens", c.Sizes["workload"]-1, w.batch, w.tokens)}}
		}
		return judge.Ruling{Passed: true, Told: beside(c.Sizes["workload"]-1, out.Tensors[0].Data)}
	},
	Tells: []string{"", "share", "faster", "you predicted", "measured"},
	Below: "a step's gain; measured is the course's own model (make ways) on one NVIDIA H200, by the medians of the time between tokens",
	Least: judge.Once,
}

// faults is what is wrong with a sheet's ten numbers: share, factor and gain of Attention, KIVI and INT4, then All.
func faults(batch, tokens int, got []float32) string {
	c := llama(batch, tokens)
	halves := readsOf(c, sizes.Way{}, tokens)
	cache, matrices := halves.cache/halves.all(), halves.matrices/halves.all()
	line := func(i int) predicted {
		return predicted{float64(got[3*i]), float64(got[3*i+1]), float64(got[3*i+2])}
	}
	for i, l := range []struct {
		name          string
		least, most   float64 // share
		mostFaster    float64
		of            string
		fasterBecause string
	}{
		{"Attention", cache * (1 - ofShare), 1, 100, "a plain kernel is no faster than reading the cache", "no kernel is that much better"},
		{"KIVI", cache * (1 - ofShare), cache * (1 + ofShare), halves.cache / readsOf(c, sizes.Way{KIVI: true}, tokens).cache,
			"it is that of the cache among the bytes of a step", "it reads no fewer bytes than that"},
		{"INT4", matrices * (1 - ofShare), matrices * (1 + ofShare), halves.matrices / readsOf(c, sizes.Way{INT4: true}, tokens).matrices,
			"it is that of the matrices among the bytes of a step", "it reads no fewer bytes than that"},
	} {
		p := line(i)
		l.most = min(l.most, 1)
		switch {
		case p == predicted{}:
			return l.name + " is not filled in yet"
		case !(p.share > 0 && p.share < 1 && p.share >= l.least && p.share <= l.most):
			return fmt.Sprintf("%s.Share is %.4g, want %.4g to %.4g: %s", l.name, p.share, l.least, l.most, l.of)
		case !(p.faster >= 0.2 && p.faster <= l.mostFaster*(1+ofBytes)):
			return fmt.Sprintf("%s.Faster is %.4g, want 0.2 to %.4g: %s", l.name, p.faster, l.mostFaster, l.fasterBecause)
		case !follows(p.gain, p):
			return fmt.Sprintf("%s.Gain is %.5g, and a share of %.4g that becomes %.4g times as fast makes a step %.5g times as fast", l.name, p.gain, p.share, p.faster, amdahl(p))
		}
	}
	if all := float64(got[9]); !follows(all, line(1), line(2)) {
		return fmt.Sprintf("All is %.5g, and with KIVI's and INT4's own numbers it is %.5g: neither the product of their gains nor their sum", all, amdahl(line(1), line(2)))
	}
	return ""
}
