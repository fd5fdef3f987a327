package reference

// The public checks: `go test ./task1_reference`. They are small enough to
// follow by hand; `make grade TASK=1` has more and larger ones.

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/tensor"
)

var negInf = float32(math.Inf(-1))

// of makes a tensor of the values in a row, for examples worked by hand.
func of(t *testing.T, values []float32, shape ...int) *tensor.Tensor {
	t.Helper()
	x, err := tensor.Of(values, shape...)
	require.NoError(t, err)
	return x
}

// counting is 0, 1, 2, …: each value tells where it came from.
func counting(shape ...int) *tensor.Tensor {
	x := tensor.New(shape...)
	for i := range x.Data {
		x.Data[i] = float32(i)
	}
	return x
}

// step is one call of a student's function, with what is known of its result.
type step struct {
	name  string // "Scores"
	call  func() (*tensor.Tensor, error)
	args  []*tensor.Tensor // which the call may not change
	shape []int
	want  []float32
	hint  string
}

func (s step) check(t *testing.T) {
	t.Helper()
	var before [][]float32
	for _, a := range s.args {
		before = append(before, slices.Clone(a.Data))
	}
	got, err := s.call()
	switch {
	case errors.Is(err, attn.ErrNotImplemented):
		t.Fatalf("not implemented: %s in attention.go is still the stub (README.md says where to start)", s.name)
	case err != nil:
		t.Fatalf("%s: %v", s.name, err)
	case got == nil:
		t.Fatalf("%s returned neither a tensor nor an error", s.name)
	case !slices.Equal(got.Shape, s.shape):
		t.Fatalf("%s: the result has shape %s, want %s", s.name, tensor.ShapeString(got.Shape), tensor.ShapeString(s.shape))
	case len(got.Data) != tensor.Elements(s.shape):
		t.Fatalf("%s: the result holds %d elements, its shape %s has %d: make it with tensor.New", s.name, len(got.Data), tensor.ShapeString(s.shape), tensor.Elements(s.shape))
	}
	for i, want := range s.want {
		if near(got.Data[i], want) {
			continue
		}
		t.Errorf("%s: element %s is %v, want %v\n  got  = %v\n  want = %v\n  hint: %s",
			s.name, tensor.ShapeString(tensor.Index(s.shape, i)), got.Data[i], want, got.Data, s.want, s.hint)
		break
	}
	for i, a := range s.args {
		if !slices.Equal(before[i], a.Data) {
			t.Errorf("%s changed argument %d: write to a tensor of your own (tensor.New)", s.name, i)
		}
	}
}

// near is false for NaN, and exact for infinities.
func near(got, want float32) bool {
	if math.IsInf(float64(want), 0) {
		return got == want
	}
	return math.Abs(float64(got-want)) <= 1e-5*math.Max(1, math.Abs(float64(want)))
}

// refuses checks that shapes which do not fit end in an error.
func refuses(t *testing.T, name, why string, call func() (*tensor.Tensor, error)) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: %s: it panicked (%v), want an error", name, why, p)
		}
	}()
	if _, err := call(); err == nil {
		t.Errorf("%s: %s: it returned no error", name, why)
	}
}

func TestSplitHeads(t *testing.T) {
	split := func(x *tensor.Tensor, heads int, shape []int, want []float32, hint string) {
		t.Helper()
		step{"SplitHeads", func() (*tensor.Tensor, error) { return SplitHeads(x, heads) },
			[]*tensor.Tensor{x}, shape, want, hint}.check(t)
	}
	split(counting(1, 1, 4), 2, []int{1, 2, 1, 2}, []float32{0, 1, 2, 3},
		"with one position nothing moves: head 0 gets 0 1, head 1 gets 2 3")
	split(counting(1, 3, 4), 2, []int{1, 2, 3, 2}, []float32{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11},
		"head 0 gets the first half of every position: 0 1, 4 5, 8 9. (A change of shape alone moves nothing)")
	split(counting(2, 2, 2), 2, []int{2, 2, 2, 1}, []float32{0, 2, 1, 3, 4, 6, 5, 7},
		"sequence 1 of the batch starts at value 4, here as there")
	refuses(t, "SplitHeads", "5 hidden values for 2 heads", func() (*tensor.Tensor, error) { return SplitHeads(counting(1, 1, 5), 2) })
}

func TestScores(t *testing.T) {
	scores := func(q, k *tensor.Tensor, shape []int, want []float32, hint string) {
		t.Helper()
		step{"Scores", func() (*tensor.Tensor, error) { return Scores(q, k) },
			[]*tensor.Tensor{q, k}, shape, want, hint}.check(t)
	}
	scores(of(t, []float32{1, 2, 3, 4}, 1, 1, 1, 4), of(t, []float32{1, 1, 1, 1}, 1, 1, 1, 4), []int{1, 1, 1, 1}, []float32{5},
		"the dot product is 10, and √dim = √4 = 2")
	scores(of(t, []float32{2, 3}, 1, 1, 2, 1), of(t, []float32{1, 10, 100}, 1, 1, 3, 1), []int{1, 1, 2, 3}, []float32{2, 20, 200, 3, 30, 300},
		"row i belongs to query i, column j to key j")
	scores(of(t, []float32{1, 2, 3, 4}, 2, 2, 1, 1), of(t, []float32{5, 6, 7, 8}, 2, 2, 1, 1), []int{2, 2, 1, 1}, []float32{5, 12, 21, 32},
		"a query meets the keys of its own head, in its own sequence, alone")
	refuses(t, "Scores", "q of dim 2, k of dim 3", func() (*tensor.Tensor, error) { return Scores(counting(1, 1, 1, 2), counting(1, 1, 1, 3)) })
}

func TestMask(t *testing.T) {
	mask := func(s *tensor.Tensor, want []float32, hint string) {
		t.Helper()
		step{"Mask", func() (*tensor.Tensor, error) { return Mask(s) }, []*tensor.Tensor{s}, s.Shape, want, hint}.check(t)
	}
	mask(counting(1, 1, 1, 1), []float32{0}, "a query sees the key beside it")
	mask(counting(1, 1, 3, 3), []float32{0, negInf, negInf, 3, 4, negInf, 6, 7, 8},
		"query 0 sees key 0; query 1 sees keys 0 and 1; query 2 sees all three")
	mask(counting(1, 1, 2, 4), []float32{0, 1, 2, negInf, 4, 5, 6, 7},
		"the last query is aligned with the last key: query i sees keys 0 … i + seqK - seqQ")
	mask(counting(2, 1, 2, 2), []float32{0, negInf, 2, 3, 4, negInf, 6, 7}, "each head of each sequence has the same mask")
}

func TestSoftmax(t *testing.T) {
	ln := func(v float64) float32 { return float32(math.Log(v)) }
	softmax := func(x []float32, rows int, want []float32, hint string) {
		t.Helper()
		s := of(t, x, 1, 1, rows, len(x)/rows)
		step{"Softmax", func() (*tensor.Tensor, error) { return Softmax(s) }, []*tensor.Tensor{s}, s.Shape, want, hint}.check(t)
	}
	softmax([]float32{ln(1), ln(2), ln(3), ln(4)}, 1, []float32{0.1, 0.2, 0.3, 0.4}, "the exponentials are 1, 2, 3 and 4, and their sum is 10")
	softmax([]float32{ln(1), ln(1), ln(5), ln(3)}, 2, []float32{0.5, 0.5, 0.625, 0.375}, "each row has its own sum")
	softmax([]float32{negInf, 7, negInf, 7}, 1, []float32{0, 0.5, 0, 0.5}, "exp(-Inf) is 0; only -Inf minus -Inf would be NaN")
	softmax([]float32{1000, 1000, 0, -1000, -1000, -1000}, 2, []float32{0.5, 0.5, 0, 1. / 3, 1. / 3, 1. / 3},
		"exp(1000) overflows and exp(-1000) is 0: subtract the row's maximum first")
}

func TestWeightedSum(t *testing.T) {
	sum := func(w, v *tensor.Tensor, shape []int, want []float32, hint string) {
		t.Helper()
		step{"WeightedSum", func() (*tensor.Tensor, error) { return WeightedSum(w, v) },
			[]*tensor.Tensor{w, v}, shape, want, hint}.check(t)
	}
	sum(of(t, []float32{0.25, 0.75}, 1, 1, 1, 2), of(t, []float32{4, 8, 40, 80}, 1, 1, 2, 2), []int{1, 1, 1, 2}, []float32{31, 62},
		"a quarter of the row 4 8 and three quarters of the row 40 80")
	sum(of(t, []float32{0, 1, 0, 1, 0, 0}, 1, 1, 2, 3), of(t, []float32{1, 2, 3}, 1, 1, 3, 1), []int{1, 1, 2, 1}, []float32{2, 1},
		"a weight of 1 picks one row of v: the first query picks row 1, the second row 0")
	sum(of(t, []float32{1, 2, 3, 4}, 2, 2, 1, 1), of(t, []float32{5, 6, 7, 8}, 2, 2, 1, 1), []int{2, 2, 1, 1}, []float32{5, 12, 21, 32},
		"weights meet the values of their own head, in their own sequence, alone")
	refuses(t, "WeightedSum", "weights for 2 keys, v with 3", func() (*tensor.Tensor, error) { return WeightedSum(counting(1, 1, 1, 2), counting(1, 1, 3, 1)) })
}

func TestMergeHeads(t *testing.T) {
	merge := func(x *tensor.Tensor, shape []int, want []float32, hint string) {
		t.Helper()
		step{"MergeHeads", func() (*tensor.Tensor, error) { return MergeHeads(x) }, []*tensor.Tensor{x}, shape, want, hint}.check(t)
	}
	merge(counting(1, 2, 3, 2), []int{1, 3, 4}, []float32{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11},
		"position 0 has 0 1 of head 0, then 6 7 of head 1")
	merge(counting(2, 2, 2, 1), []int{2, 2, 2}, []float32{0, 2, 1, 3, 4, 6, 5, 7}, "sequence 1 of the batch starts at value 4, here as there")
}
