package decoder

import (
	"math"

	"flashlab/tensor"
)

// numbers are a model's weights, as halves hold them.
type numbers struct {
	Config
	embedding, head, norm []float32
	blocks                []numbersOf
}

type numbersOf struct{ norm1, norm2, qkv, out, gateUp, down []float32 }

type number interface{ float32 | float64 }

// logits are those after each token of a text, in T. What the model keeps in halves is rounded by round.
func logits[T number](n numbers, tokens []int32, round func([]T)) (all [][]T) {
	x := make([][]T, len(tokens))
	for i, token := range tokens {
		x[i] = widened[T](n.embedding[int(token)*n.Hidden:][:n.Hidden])
	}
	times := func(w []float32, x []T) []T {
		y := make([]T, len(w)/len(x))
		for o := range y {
			for i, v := range x {
				y[o] += v * T(w[o*len(x)+i])
			}
		}
		return y
	}
	rounded := func(x []T) []T { round(x); return x }
	norm := func(x []T, gain []float32) []T {
		var squares T
		for _, v := range x {
			squares += v * v
		}
		scale := 1 / T(math.Sqrt(float64(squares/T(len(x))+T(n.Epsilon))))
		y := make([]T, len(x))
		for i, v := range x {
			y[i] = v * scale * T(gain[i])
		}
		return rounded(y)
	}
	add := func(x, y []T) {
		for i, v := range y {
			x[i] += v
		}
		round(x)
	}
	for _, b := range n.blocks {
		var qkv [][]T
		for i, row := range x {
			qkv = append(qkv, rounded(rotate(n.Config, rounded(times(b.qkv, norm(row, b.norm1))), i)))
		}
		for i, row := range x {
			add(row, rounded(times(b.out, rounded(attend(n.Config, qkv[:i+1])))))
			both := rounded(times(b.gateUp, norm(row, b.norm2)))
			inner := make([]T, n.MLP)
			for j := range inner {
				inner[j] = both[j] / (1 + T(math.Exp(float64(-both[j])))) * both[n.MLP+j]
			}
			add(row, rounded(times(b.down, rounded(inner))))
		}
	}
	for _, row := range x {
		all = append(all, times(n.head, norm(row, n.norm)))
	}
	return all
}

func widened[T number](x []float32) []T {
	y := make([]T, len(x))
	for i, v := range x {
		y[i] = T(v)
	}
	return y
}

// rotate turns queries and keys by a position.
func rotate[T number](c Config, qkv []T, position int) []T {
	y, half := append([]T{}, qkv...), c.Dim/2
	for head := range c.Heads.Heads + c.KVHeads {
		for j := range half {
			angle := float64(position) * c.Frequencies[j]
			sine, cosine := T(math.Sin(angle)), T(math.Cos(angle))
			at := head*c.Dim + j
			y[at], y[at+half] = qkv[at]*cosine-qkv[at+half]*sine, qkv[at+half]*cosine+qkv[at]*sine
		}
	}
	return y
}

// attend is the last token's attention to all.
func attend[T number](c Config, qkv [][]T) []T {
	out := make([]T, c.Width())
	for head := range c.Heads.Heads {
		q := qkv[len(qkv)-1][head*c.Dim:][:c.Dim]
		key := c.Width() + head/(c.Heads.Heads/c.KVHeads)*c.Dim
		scores, largest, sum := make([]T, len(qkv)), T(math.Inf(-1)), T(0)
		for i, token := range qkv {
			for d, v := range q {
				scores[i] += v * token[key+d]
			}
			scores[i] /= T(math.Sqrt(float64(c.Dim)))
			largest = max(largest, scores[i])
		}
		for i, token := range qkv {
			w := T(math.Exp(float64(scores[i] - largest)))
			sum += w
			for d := range q {
				out[head*c.Dim+d] += w * token[key+c.Slot()+d]
			}
		}
		for d := range q {
			out[head*c.Dim+d] /= sum
		}
	}
	return out
}

func toHalves(x []float32) { tensor.Float16.Round(x) }
func asItIs([]float64)     {}
