// Command worker runs a submission of bonus task b9 for the grader.
package main

import (
	"fmt"
	"slices"

	"flashlab/attn"
	quantized "flashlab/bonus/b9_quantized"
	"flashlab/device"
	"flashlab/device/remote"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
	"flashlab/grader/tasks/b9/sizes"
	"flashlab/nn/kit"
	"flashlab/tensor"
)

func main() {
	k := worker.Once(kit.New)
	worker.Main(map[string]worker.Op{
		"assembled": decoding(k, never),
		"replayed":  decoding(k, sizes.Recorded),
		"held":      decoding(k, never),
		"reads":     reads,
		"sheet":     sheet,
	})
}

// never is the step that is recorded where none is.
const never = -1

// decoding makes a student's model, and has it decode the case's tokens.
func decoding(k *worker.Made[*kit.Kit], recorded int) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		pieces, err := k.Get(j.Queue)
		if err != nil {
			return nil, fmt.Errorf("the pieces of nn/kit: %w", err)
		}
		r := &run{Job: j, config: sizes.Config(j.Problem), recorded: recorded, queue: &tracked{Queue: j.Queue}}
		defer r.free()
		if err := r.make(pieces); err != nil {
			return nil, err
		}
		if err := r.steps(); err != nil {
			return nil, err
		}
		out, err := tensor.Of(r.out, j.Outputs[0].Shape...)
		return &problem.Answer{Tensors: []*tensor.Tensor{out}}, err
	}
}

// run is a case that runs.
type run struct {
	*worker.Job
	config   kit.Config
	recorded int // the step that is recorded
	queue    *tracked
	model    *quantized.Model
	graph    device.Graph
	logits   kit.Floats // of one step
	tokens   kit.Ints
	lengths  kit.Ints
	own      []device.Memory
	out      []float32 // [batch, steps, vocabulary]
}

func (r *run) free() {
	if r.graph != nil {
		_ = r.graph.Close()
	}
	r.queue.free()
	for _, m := range r.own {
		_ = r.Device.Free(m)
	}
}

// make puts what is the grader's on the device, and has the student's model made.
func (r *run) make(pieces *kit.Kit) (err error) {
	c := r.config
	if r.logits, err = device.Alloc[float32](r.Device, "logits", c.Batch*c.Vocabulary); err != nil {
		return err
	}
	r.own = append(r.own, r.logits.Memory())
	for _, b := range []struct {
		to   *kit.Ints
		name string
	}{{&r.tokens, "tokens"}, {&r.lengths, "lengths"}} {
		if *b.to, err = device.Alloc[int32](r.Device, b.name, c.Batch); err != nil {
			return err
		}
		r.own = append(r.own, b.to.Memory())
	}
	way := sizes.Of(r.Problem)
	r.model, err = quantized.New(r.queue, pieces, c, checkpoint{r.Job, c}, quantized.Way{KIVI: way.KIVI, INT4: way.INT4})
	switch {
	case err != nil:
		return worker.StubIn("quantized.go", "New", err)
	case r.model == nil:
		return fmt.Errorf("the function New returned neither a model nor an error")
	}
	return nil
}

// checkpoint has the weights of the case's seed, which this process need not know.
type checkpoint struct {
	job    *worker.Job
	config kit.Config
}

func (c checkpoint) Load(to kit.Halves, n kit.Name) error {
	if !sizes.Known(c.config, n) {
		return fmt.Errorf("load %+v: a model of %d layers has no such weight", n, c.config.Layers)
	}
	if want := c.config.Elements(n.Kind); to.Len() != want {
		return fmt.Errorf("load %+v: %s holds %d elements, want %d", n, to.Name(), to.Len(), want)
	}
	w := sizes.Filled(c.config, n)
	return c.job.FillMemory(to.Memory(), remote.Values{Input: remote.Random, Stream: w.Stream, Scale: w.Scale, Shift: w.Shift, Type: tensor.Float16})
}

// steps decodes all tokens. A sequence begins anew before its last tokens: each says how many these are.
func (r *run) steps() error {
	c, steps := r.config, r.Sizes["steps"]
	r.out = make([]float32, c.Batch*steps*c.Vocabulary)
	tokens := problem.Tokens(r.In[0].Data, c.Vocabulary)
	lengths := make([]int32, c.Batch)
	for i := range steps {
		next := make([]int32, c.Batch)
		for b := range next {
			next[b] = int32(tokens[b*steps+i])
			if i == steps-r.Each[b] {
				lengths[b] = 0
			}
		}
		if err := r.tokens.CopyIn(r.Device, next); err != nil {
			return err
		}
		if err := r.lengths.CopyIn(r.Device, lengths); err != nil {
			return err
		}
		if err := r.Device.Poison(r.logits.Memory()); err != nil {
			return err
		}
		if err := worker.StubIn("quantized.go", "Step", r.step(i)); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if err := r.Device.Sync(); err != nil {
			return err
		}
		if err := r.kept(next, lengths); err != nil {
			return err
		}
		got, err := r.logits.CopyOut(r.Device)
		if err != nil {
			return err
		}
		for b := range c.Batch {
			copy(r.out[(b*steps+i)*c.Vocabulary:], got[b*c.Vocabulary:(b+1)*c.Vocabulary])
			lengths[b]++
		}
	}
	return nil
}

// step is one step: from the recorded one on a graph.
func (r *run) step(i int) (err error) {
	r.queue.within = true
	defer func() { r.queue.within = false }()
	if r.recorded == never || i < r.recorded {
		if err := r.model.Step(r.logits, r.tokens, r.lengths); err != nil {
			return err
		}
		return r.queue.fault()
	}
	if r.graph == nil {
		if r.graph, err = r.Device.Record(func(device.Queue) error { return r.model.Step(r.logits, r.tokens, r.lengths) }); err != nil {
			return fmt.Errorf("cannot be recorded as a graph: %w", err)
		}
	}
	return r.graph.Launch()
}

// kept: tokens and lengths are the grader's.
func (r *run) kept(tokens, lengths []int32) error {
	for _, b := range []struct {
		of   kit.Ints
		want []int32
	}{{r.tokens, tokens}, {r.lengths, lengths}} {
		got, err := b.of.CopyOut(r.Device)
		if err != nil {
			return err
		}
		if !slices.Equal(got, b.want) {
			return fmt.Errorf("a step changed %s, which the caller sets before each", b.of.Name())
		}
	}
	return nil
}

// reads asks what a step reads.
func reads(j *worker.Job) (*problem.Answer, error) {
	way := sizes.Of(j.Problem)
	r := quantized.Read(sizes.Config(j.Problem), quantized.Way{KIVI: way.KIVI, INT4: way.INT4}, j.Sizes["steps"])
	if r == (quantized.Reads{}) {
		return nil, worker.StubIn("sheet.go", "Read", attn.ErrNotImplemented)
	}
	return numbers(j, r.Matrices, r.Head, r.Cache)
}

// sheet is the predictions for one workload.
func sheet(j *worker.Job) (*problem.Answer, error) {
	s := quantized.Sheets[j.Sizes["workload"]-1]
	if s == (quantized.Sheet{}) {
		return nil, worker.StubIn("sheet.go", "Sheets", attn.ErrNotImplemented)
	}
	var all []float64
	for _, p := range []quantized.Prediction{s.Attention, s.KIVI, s.INT4} {
		all = append(all, p.Share, p.Faster, p.Gain)
	}
	return numbers(j, append(all, s.All)...)
}

func numbers(j *worker.Job, all ...float64) (*problem.Answer, error) {
	var narrow []float32
	for _, x := range all {
		narrow = append(narrow, float32(x))
	}
	out, err := tensor.Of(narrow, j.Outputs[0].Shape...)
	return &problem.Answer{Tensors: []*tensor.Tensor{out}}, err
}
