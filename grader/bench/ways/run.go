package ways

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"flashlab/device"
	"flashlab/grader/bench/price"
	"flashlab/nn/half/decoder"
)

// Result is what one way came to.
type Result struct {
	Way        Way
	Failed     string    // why it did not run; then all else is empty
	First      Spread    // time to the first token, seconds; zeros without a clock
	Each       Spread    // time between tokens, seconds
	PerSecond  float64   // tokens of all sequences together
	Bytes      int64     // of device memory, at their peak
	Perplexity float64   // on the first way's tokens, or on the text's
	Surprises  []float64 // the mean of −log p, of each sequence
	Same       float64   // share of tokens equal to the first way's; 0 where the text says what follows
	Graph      bool      // whether steps were recorded
	Tokens     [][]int32 `json:"-"` // of each step, those of all sequences
	// Firsts and Eachs are what First and Each are of.
	Firsts, Eachs []time.Duration `json:"-"`
}

// Spread is a median, and the 5th and 95th percentiles.
type Spread struct{ Median, Low, High float64 }

func spread(x []time.Duration) Spread {
	if len(x) == 0 {
		return Spread{}
	}
	slices.Sort(x)
	at := func(share int) float64 { return x[(len(x)-1)*share/100].Seconds() }
	return Spread{at(50), at(5), at(95)}
}

// rounds is how often a prompt is timed.
const rounds = 3

// Run runs the ways one after the other. Each is told to done when it is finished, or when it has failed; if all fail, that
// is an error.
func Run(d device.Device, w Workload, ways []Way, done func(Result)) error {
	if err := w.Check(); err != nil {
		return err
	}
	if free := d.Info().MemoryBytes; free > 0 && w.Bytes() > free {
		return fmt.Errorf("%v: in halves the model takes %.1f GB, and this device has %.1f GB: a smaller shape, or fewer sequences", w.Config, float64(w.Bytes())/1e9, float64(free)/1e9)
	}
	c := &counting{Device: d}
	p, err := newParts(device.QueueOf(c))
	if err != nil {
		return err
	}
	var first [][]int32
	var failed []error
	for _, way := range ways {
		r, err := one(c, p, w, way, first)
		switch {
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", way.Name, err))
			r = Result{Way: way, Failed: err.Error()}
		case first == nil:
			first = r.Tokens
		}
		done(r)
	}
	if len(failed) == len(ways) {
		return errors.Join(failed...)
	}
	return nil
}

// one runs one way. Perplexity is measured on what follows in the text, and then nothing is written; where nothing is known of
// that, on the first way's tokens.
func one(c *counting, p *parts, w Workload, way Way, first [][]int32) (r Result, err error) {
	a := &arena{c, map[uint64]device.Memory{}}
	defer func() { err = errors.Join(err, a.close()) }()
	c.peak = c.now
	m, err := a.model(p, w, way)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	r = Result{Way: way}
	known := first
	if w.given() {
		known = w.Text.Next
	} else {
		if err := r.answer(c, m, w); err != nil {
			return r, err
		}
		if first == nil {
			known = r.Tokens
		}
		r.Same = share(r.Tokens, known)
	}
	r.Surprises, err = surprises(a, p, m, w, known)
	r.Perplexity = price.Perplexity(r.Surprises).Mean
	r.Graph, r.Bytes = m.Recorded(), c.peak
	return r, err
}

// given tells whether the text itself says what follows the prompts.
func (w Workload) given() bool { return w.Text != nil && w.Text.Next != nil }

// prompts are those of a text, or of random tokens.
func (w Workload) prompts() [][]int32 {
	if w.Text != nil {
		return w.Text.Prompts
	}
	all := make([][]int32, w.Batch)
	for b := range all {
		for i := range w.Prompt {
			all[b] = append(all[b], int32((i*i+7*i+13*b)%w.Vocabulary))
		}
	}
	return all
}

// start takes the prompts, and gives the first tokens.
func start(m *decoder.Model, w Workload) ([]int32, error) {
	m.Reset()
	if err := m.Prefill(w.prompts()); err != nil {
		return nil, err
	}
	return next(m)
}

func next(m *decoder.Model) ([]int32, error) {
	tokens, err := m.Next()
	if err == nil && slices.Contains(tokens, -1) {
		err = fmt.Errorf("after %d tokens the logits hold a NaN", m.Position())
	}
	return tokens, err
}

// answer writes all tokens, each fetched as it would be for somebody reading along. No token ends a
// sequence. On a device with a clock it times them.
func (r *Result) answer(d device.Device, m *decoder.Model, w Workload) error {
	timed := clock(d)
	if timed { // the first step may allocate, the second is recorded
		if _, err := start(m, w); err != nil {
			return err
		}
		for range min(3, w.Tokens) {
			if err := m.Step(); err != nil {
				return err
			}
		}
		var firsts []time.Duration
		for range rounds {
			if err := d.Sync(); err != nil {
				return err
			}
			began := time.Now()
			if _, err := start(m, w); err != nil {
				return err
			}
			firsts = append(firsts, time.Since(began))
		}
		r.First, r.Firsts = spread(firsts), firsts
	}
	tokens, err := start(m, w)
	if err != nil {
		return err
	}
	r.Tokens = [][]int32{tokens}
	var each []time.Duration
	for range w.Tokens - 1 {
		began := time.Now()
		if err := m.Step(); err != nil {
			return err
		}
		if tokens, err = next(m); err != nil {
			return err
		}
		each = append(each, time.Since(began))
		r.Tokens = append(r.Tokens, tokens)
	}
	if timed && len(each) > 0 {
		sum := time.Duration(0)
		for _, t := range each {
			sum += t
		}
		r.Each, r.Eachs, r.PerSecond = spread(each), each, float64(w.Batch*len(each))/sum.Seconds()
	}
	return nil
}

// clock tells whether a device keeps time.
func clock(d device.Device) bool {
	e, err := d.NewEvent()
	if err != nil {
		return false
	}
	return e.Close() == nil
}

// share of tokens that are equal.
func share(a, b [][]int32) float64 {
	same, all := 0, 0
	for i := range a {
		for j := range a[i] {
			if all++; a[i][j] == b[i][j] {
				same++
			}
		}
	}
	return float64(same) / float64(all)
}

// surprises are those of tokens after the prompts: each is given to the model, whatever it would have
// chosen, so a step's cache is what the way's own cache reads back.
func surprises(a *arena, p *parts, m *decoder.Model, w Workload, tokens [][]int32) ([]float64, error) {
	sums, err := device.Upload(a.device, "losses", make([]float64, w.Batch))
	if err != nil {
		return nil, err
	}
	a.memory[sums.Memory().Addr] = sums.Memory()
	if _, err := start(m, w); err != nil {
		return nil, err
	}
	for i, now := range tokens {
		if err := m.SetNext(now); err != nil {
			return nil, err
		}
		if err := p.half.Losses(sums, m.Logits(), m.NextTokens(), w.Batch, w.Vocabulary); err != nil {
			return nil, err
		}
		if i+1 == len(tokens) {
			break
		}
		if err := m.Step(); err != nil {
			return nil, err
		}
	}
	losses, err := sums.CopyOut(a.device)
	for i := range losses {
		losses[i] /= float64(len(tokens))
	}
	return losses, err
}
