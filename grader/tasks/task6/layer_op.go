package task6

import (
	"fmt"
	"slices"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/task6/sizes"
	"flashlab/grader/tasks/task6/tint"
	"flashlab/nn/llama"
	"flashlab/tensor"
)

// One layer's attention on its own.
var (
	// prompt is a prompt alone.
	prompt = layerOp("prompt", "batch", "prompt", "hidden", "heads", "dim")
	// layer is a prompt, then steps of one token.
	layer = layerOp("layer", layerSizes...)
	// recorded has its decoding step recorded as a graph.
	recorded = layerOp("recorded", layerSizes...)
	// ragged has sequences of different lengths: all have a prompt of the same
	// length, but each keeps its own number of tokens of it, and goes on there.
	ragged = layerOp(raggedName, layerSizes...)
	// rightKernels wants each kind of pass to use the kernel that is made for it.
	rightKernels = layerOp(rightKernelsName, layerSizes...)
)

const (
	raggedName       = "ragged"
	rightKernelsName = "right_kernels"
)

var layerSizes = []string{"batch", "prompt", "steps", "hidden", "heads", "dim"}

func layerOp(name string, sizes ...string) judge.Op {
	return judge.Op{
		Name:    name,
		Sizes:   sizes,
		Tensors: layerTensors,
		Judge:   judgeLayer,
		Least:   judge.Once,
	}
}

// layerTensors: the weights are normal whatever the case's distribution is; both
// sides scale them by wire.ProjectionScale.
func layerTensors(c problem.Problem) (in, out []problem.Tensor) {
	s := c.Sizes
	width := s["heads"] * s["dim"]
	x := []int{s["batch"], s["prompt"] + s["steps"], s["hidden"]}
	in = []problem.Tensor{{Name: "x", Shape: x}}
	for _, name := range []string{"wq", "wk", "wv"} {
		in = append(in, problem.Tensor{Name: name, Shape: []int{width, s["hidden"]}, Dist: tensor.Normal})
	}
	in = append(in, problem.Tensor{Name: "wo", Shape: []int{s["hidden"], width}, Dist: tensor.Normal})
	return in, []problem.Tensor{{Name: "out", Shape: x}}
}

// layerCase is a case with its weights.
type layerCase struct {
	problem.Problem
	Layer
	x                    []float32
	batch, prompt, steps int
}

func newLayerCase(c problem.Problem, in []*tensor.Tensor) (l layerCase, err error) {
	s := c.Sizes
	l = layerCase{Problem: c, x: in[0].Data, batch: s["batch"], prompt: s["prompt"], steps: s["steps"]}
	l.Layer = Layer{Hidden: s["hidden"], Heads: s["heads"], Dim: s["dim"],
		Q: weightsOf(in[1]), K: weightsOf(in[2]), V: weightsOf(in[3]), Out: weightsOf(in[4])}
	if l.Dim%2 == 0 {
		l.Rotary = llama.Base // turns pairs: an odd head goes without
	}
	l.Tint, err = tint.Factors(l.Dim).Values(c.Seed)
	return l, err
}

// weightsOf is a projection's weights as the layer gets them.
func weightsOf(w *tensor.Tensor) []float32 {
	factor := sizes.ProjectionScale(w.Shape[1])
	y := make([]float32, len(w.Data))
	for i, v := range w.Data {
		y[i] = v * factor
	}
	return y
}

func (l layerCase) String() string {
	text := fmt.Sprintf("batch %d, hidden %d, heads %d × %d, a prompt of %d", l.batch, l.Hidden, l.Heads, l.Dim, l.prompt)
	if l.steps > 0 {
		text += ", then " + inSteps(l.steps)
	}
	return text
}

func inSteps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}

// kept is how many tokens of its prompt a sequence goes on from.
func (l layerCase) kept(b int) int {
	if l.Op == raggedName {
		return sizes.Kept(l.Problem, b)
	}
	return l.prompt
}

// sequence is what one sequence of a batch is, x [tokens, hidden], and from which
// token on its output is looked at.
type sequence struct {
	x            []float32
	prompt, from int
}

// sequences are, for each of the batch, the prompt alone, and what continues from
// that part of it that is kept.
func (l layerCase) sequences() []sequence {
	var all []sequence
	size := (l.prompt + l.steps) * l.Hidden
	for b := range l.batch {
		x, kept := l.x[b*size:(b+1)*size], l.kept(b)
		all = append(all, sequence{x[:l.prompt*l.Hidden], l.prompt, 0})
		if l.steps > 0 {
			all = append(all, sequence{slices.Concat(x[:kept*l.Hidden], x[l.prompt*l.Hidden:]), kept, kept})
		}
	}
	return all
}

// outputs computes all sequences; slip is asked for with the length that a
// sequence's prompt has.
func outputs[T Real](l layerCase, slip func(prompt int) Slip) []T {
	var out []T
	for _, s := range l.sequences() {
		out = append(out, Forward(l.Layer, as[T](s.x), slip(s.prompt))[s.from*l.Hidden:]...)
	}
	return out
}

func as[T Real](x []float32) []T {
	y := make([]T, len(x))
	for i, v := range x {
		y[i] = T(v)
	}
	return y
}

func (l layerCase) truth() judge.Truth {
	right := func(int) Slip { return Slip{} }
	t := judge.Truth{Layout: judge.Layout{Outer: l.batch * (l.prompt + l.steps), Len: l.Hidden, Inner: 1},
		Want: outputs[float64](l, right), Plain: outputs[float32](l, right)}
	for _, s := range l.sequences() {
		t.Scale = append(t.Scale, l.Scale(as[float64](s.x))[s.from:]...)
	}
	return t
}

func judgeLayer(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
	l, err := newLayerCase(c, in)
	if err != nil {
		return judge.Ruling{Reason: err.Error()}
	}
	p := Passes{Problem: c, About: l, Truth: l.truth(), Got: out.Tensors[0].Data, Calls: out.Counts,
		Parts: []Part{{Rows: l.prompt, Prompt: true}, {Rows: l.steps}}}
	p.Try = func(slip func(prompt int) Slip) []float64 { return outputs[float64](l, slip) }
	p.mergesInto = l.Hidden == l.Heads*l.Dim
	p.strict = c.Op == rightKernelsName
	return p.Judge()
}
