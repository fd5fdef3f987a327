package b9

import (
	"math"

	"flashlab/grader/tasks/b9/sizes"
	"flashlab/nn/kit"
	"flashlab/tensor"
)

// real is what the model is computed in: float64 for what is right, float32 for how close one can come.
type real interface{ float32 | float64 }

// slip is a known mistake.
type slip struct {
	noFirst, noSecond      bool // additions to the residual stream that are missing
	firstNorms, exchanged  bool // layer 0's norms for all layers; each layer's two norms exchanged
	oneCache               bool // of layer 0, for all layers
	unrotated              bool
	still                  bool // positions stay those of the recorded step
	neighbour              bool // sequence b gets the tokens of sequence 0
	halfWeights, halfCache bool // halves, where four bits were asked for
	openToo                bool // the open group is read as if it had four bits, too
	noLast                 bool // the norm before the head is missing
}

// model is a case's weights, as the products read them.
type model struct {
	kit.Config
	way     sizes.Way
	weights map[kit.Name][]float32 // in halves
	packed  map[kit.Name][]float32 // of the same, what four bits make of them
}

func newModel(c kit.Config, way sizes.Way, seed uint64) (*model, error) {
	m := &model{c, way, map[kit.Name][]float32{}, map[kit.Name][]float32{}}
	for layer := range c.Layers {
		for k := kit.Embedding; k <= kit.Head; k++ {
			n := kit.Name{Kind: k, Layer: layer}
			if !sizes.Known(c, n) {
				continue
			}
			w, x := sizes.Filled(c, n), make([]float32, c.Elements(k))
			if err := tensor.Fill(x, tensor.Normal, seed, w.Stream, 0); err != nil {
				return nil, err
			}
			for i := range x {
				if x[i] *= w.Scale; w.Shift != 0 {
					x[i] += w.Shift
				}
			}
			tensor.Float16.Round(x)
			m.weights[n] = x
			switch k {
			case kit.QKV, kit.Out, kit.GateUp, kit.Down:
				m.packed[n] = packed(x)
			}
		}
	}
	return m, nil
}

func toHalf(x float32) float32 {
	one := []float32{x}
	tensor.Float16.Round(one)
	return one[0]
}

// packed is what weights become in groups of four bits.
func packed(w []float32) []float32 {
	y := make([]float32, len(w))
	for from := 0; from < len(w); from += kit.WeightGroup {
		var largest float32
		for _, x := range w[from : from+kit.WeightGroup] {
			largest = max(largest, float32(math.Abs(float64(x))))
		}
		scale := toHalf(largest / 7)
		for i := from; i < from+kit.WeightGroup && scale > 0; i++ {
			y[i] = scale * (min(max(rint(w[i]/scale)+8, 0), 15) - 8)
		}
	}
	return y
}

func rint(x float32) float32 { return float32(math.RoundToEven(float64(x))) }

// matrix is a weight as a way reads it.
func (m *model) matrix(k kit.Kind, layer int, s slip) []float32 {
	n := kit.Name{Kind: k, Layer: layer}
	if p, ok := m.packed[n]; ok && m.way.INT4 && !s.halfWeights {
		return p
	}
	return m.weights[n]
}

func multiply[T real](x []T, w []float32) []T {
	y := make([]T, len(w)/len(x))
	for o := range y {
		for i, v := range x {
			y[o] += v * T(w[o*len(x)+i])
		}
	}
	return y
}

func norm[T real](x []T, gain []float32) []T {
	var sum T
	for _, v := range x {
		sum += v * v
	}
	by := 1 / T(math.Sqrt(float64(sum/T(len(x))+kit.Epsilon)))
	y := make([]T, len(x))
	for i, v := range x {
		y[i] = v * by * T(gain[i])
	}
	return y
}

// rotate turns heads by their position.
func rotate[T real](x []T, dim, position int) {
	for at := 0; at < len(x); at += dim {
		for j := range dim / 2 {
			angle := float64(position) * math.Pow(kit.Base, -2*float64(j)/float64(dim))
			c, s := T(math.Cos(angle)), T(math.Sin(angle))
			a, b := x[at+j], x[at+j+dim/2]
			x[at+j], x[at+j+dim/2] = a*c-b*s, b*c+a*s
		}
	}
}

// sequence computes one sequence's logits, token by token; it begins anew before token fresh. still is the
// last position of a slip.
func sequence[T real](m *model, tokens []int, fresh int, s slip) (logits [][]T) {
	caches := make([]*cache, m.Layers)
	position := 0
	for i, token := range tokens {
		if i == fresh || i == 0 {
			position = 0
			for l := range caches {
				caches[l] = newCache(m.Config, m.way.KIVI && !s.halfCache)
			}
		}
		at := position
		if s.still {
			at = min(at, sizes.Recorded)
		}
		logits = append(logits, step[T](m, caches, token, at, s))
		position++
	}
	return logits
}

// step is one token's pass.
func step[T real](m *model, caches []*cache, token, position int, s slip) []T {
	var x []T
	for _, v := range m.weights[kit.Name{Kind: kit.Embedding}][token*m.Hidden : (token+1)*m.Hidden] {
		x = append(x, T(v))
	}
	for l := range m.Layers {
		of, first, second := l, kit.Norm1, kit.Norm2
		if s.firstNorms {
			of = 0
		}
		if s.exchanged {
			first, second = second, first
		}
		h := norm(x, m.weights[kit.Name{Kind: first, Layer: of}])
		qkv := multiply(h, m.matrix(kit.QKV, l, s))
		split := (m.Heads + m.KVHeads) * m.Dim
		if !s.unrotated {
			rotate(qkv[:split], m.Dim, position)
		}
		c := caches[l]
		if s.oneCache {
			c = caches[0]
		}
		keep(c, qkv[m.Heads*m.Dim:split], qkv[split:], position)
		added := multiply(attend(m.Config, c, qkv[:m.Heads*m.Dim], position+1, s), m.matrix(kit.Out, l, s))
		join(x, added, s.noFirst)
		both := multiply(norm(x, m.weights[kit.Name{Kind: second, Layer: of}]), m.matrix(kit.GateUp, l, s))
		inside := make([]T, m.MLP)
		for i := range inside {
			inside[i] = both[i] / (1 + T(math.Exp(-float64(both[i])))) * both[m.MLP+i]
		}
		join(x, multiply(inside, m.matrix(kit.Down, l, s)), s.noSecond)
	}
	if !s.noLast {
		x = norm(x, m.weights[kit.Name{Kind: kit.Last}])
	}
	return multiply(x, m.weights[kit.Name{Kind: kit.Head}])
}

// join adds to the residual stream, or takes its place.
func join[T real](x, y []T, instead bool) {
	for i, v := range y {
		if instead {
			x[i] = 0
		}
		x[i] += v
	}
}
