// Package sizes is what the grader and the worker of bonus task b9 agree upon: a case's model, its ways,
// and its weights.
package sizes

import (
	"math"

	"flashlab/grader/grading/problem"
	"flashlab/nn/kit"
)

// Names are those of a case's numbers, in a rubric's order. The way is one of Ways, from 1 on.
var Names = []string{"way", "batch", "steps", "layers", "hidden", "heads", "kvheads", "dim", "mlp", "vocabulary"}

// Way is how a model keeps what it reads.
type Way struct{ KIVI, INT4 bool }

// Ways are all four.
var Ways = []Way{{}, {KIVI: true}, {INT4: true}, {KIVI: true, INT4: true}}

func (w Way) String() string {
	weights, cache := "halves", "halves"
	if w.INT4 {
		weights = "INT4"
	}
	if w.KIVI {
		cache = "KIVI"
	}
	return "weights in " + weights + ", a cache in " + cache
}

// Of is a case's way.
func Of(c problem.Problem) Way { return Ways[(c.Sizes["way"]-1)%len(Ways)] }

// Config is a case's model, with room for all its steps.
func Config(c problem.Problem) kit.Config {
	s := c.Sizes
	slots := (s["steps"] + kit.CacheGroup - 1) / kit.CacheGroup * kit.CacheGroup
	return kit.Config{Batch: s["batch"], Slots: slots, Layers: s["layers"], Hidden: s["hidden"], Heads: s["heads"], KVHeads: s["kvheads"],
		Dim: s["dim"], MLP: s["mlp"], Vocabulary: s["vocabulary"]}
}

// Recorded is the step that is recorded, in a case that replays it: from then on nothing else runs.
const Recorded = 2

// Weight is how a weight's numbers are made of normal ones: shift + scale · number, rounded to halves.
type Weight struct {
	Stream       uint32
	Scale, Shift float32
}

// Filled says that of a weight.
func Filled(c kit.Config, n kit.Name) Weight {
	w := Weight{Stream: uint32(1000 + 16*n.Layer + int(n.Kind)), Scale: 1}
	switch n.Kind {
	case kit.Norm1, kit.Norm2, kit.Last:
		w.Scale, w.Shift = 0.3, 1
	case kit.QKV, kit.GateUp, kit.Head:
		w.Scale = over(c.Hidden)
	case kit.Out:
		w.Scale = over(c.Heads * c.Dim)
	case kit.Down:
		w.Scale = over(c.MLP)
	}
	return w
}

func over(inputs int) float32 { return float32(1 / math.Sqrt(float64(inputs))) }

// Known tells whether there is such a weight.
func Known(c kit.Config, n kit.Name) bool {
	switch n.Kind {
	case kit.Embedding, kit.Last, kit.Head:
		return n.Layer == 0
	case kit.Norm1, kit.QKV, kit.Out, kit.Norm2, kit.GateUp, kit.Down:
		return n.Layer >= 0 && n.Layer < c.Layers
	}
	return false
}
