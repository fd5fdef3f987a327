package quantized

// The public checks: `go test ./bonus/b9_quantized`. `make grade TASK=b9` has more.

import (
	"errors"
	"math"
	"testing"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/nn/kit"
	"flashlab/tensor"
)

var small = Config{Batch: 2, Slots: 32, Layers: 2, Hidden: 32, Heads: 2, KVHeads: 1, Dim: 16, MLP: 64, Vocabulary: 11}

// weights are random ones, the same in every test.
type weights struct{ queue device.Queue }

func (w weights) values(n Name, count int) []float32 {
	x := make([]float32, count)
	if err := tensor.Fill(x, tensor.Normal, 1, uint32(16*n.Layer)+uint32(n.Kind), 0); err != nil {
		panic(err)
	}
	for i := range x {
		switch n.Kind {
		case Norm1, Norm2, Last:
			x[i] = 1 + x[i]/4
		case Embedding:
		default:
			x[i] /= 6
		}
	}
	tensor.Float16.Round(x)
	return x
}

func (w weights) Load(to Halves, n Name) error {
	return w.queue.CopyIn(to.Memory(), tensor.Float16.Encode(w.values(n, to.Len())))
}

// decoded is a model with a place for what goes in and out.
type decoded struct {
	t               *testing.T
	d               device.Device
	m               *Model
	logits          Floats
	tokens, lengths Ints
	graph           device.Graph
}

func newDecoded(t *testing.T, w Way) *decoded {
	t.Helper()
	d := attntest.Device(t)
	q := device.QueueOf(d)
	pieces, err := kit.New(q)
	x := &decoded{t: t, d: d}
	x.must(err)
	x.m, err = New(q, pieces, small, weights{q}, w)
	x.must(err)
	x.logits, err = device.Alloc[float32](q, "logits", small.Batch*small.Vocabulary)
	x.must(err)
	x.tokens, err = device.Alloc[int32](q, "tokens", small.Batch)
	x.must(err)
	x.lengths, err = device.Alloc[int32](q, "lengths", small.Batch)
	x.must(err)
	return x
}

func (x *decoded) must(err error) {
	x.t.Helper()
	if errors.Is(err, attn.ErrNotImplemented) {
		x.t.Fatalf("%v: quantized.go is still the stub (README.md says where to start)", err)
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// token is what sequence b gets in step i.
func token(b, i int) int { return (3*i + 5*b + i*i) % small.Vocabulary }

// step runs step i, or launches the recorded one; sequence 1 is always one token behind.
func (x *decoded) step(i int) []float32 {
	x.t.Helper()
	x.must(x.tokens.CopyIn(x.d, []int32{int32(token(0, i)), int32(token(1, i))}))
	x.must(x.lengths.CopyIn(x.d, []int32{int32(i), int32(max(0, i-1))}))
	x.must(x.d.Poison(x.logits.Memory()))
	if x.graph != nil {
		x.must(x.graph.Launch())
	} else {
		x.must(x.m.Step(x.logits, x.tokens, x.lengths))
	}
	x.must(x.d.Sync())
	got, err := x.logits.CopyOut(x.d)
	x.must(err)
	return got
}

// apart is how far two rows of logits are from each other, beside the second's size.
func apart(a, b []float32) float64 {
	var diff, size float64
	for i, x := range b {
		diff += float64((a[i] - x) * (a[i] - x))
		size += float64(x * x)
	}
	return math.Sqrt(diff / size)
}

// One token by hand: it has nothing to attend to but itself, so attention gives its value.
func TestFirstToken(t *testing.T) {
	x := newDecoded(t, Way{})
	got, w := x.step(0)[:small.Vocabulary], weights{}
	of := func(k Kind, layer int) []float32 { return w.values(Name{Kind: k, Layer: layer}, small.Elements(k)) }
	row := of(Embedding, 0)[token(0, 0)*small.Hidden : (token(0, 0)+1)*small.Hidden]
	for l := range small.Layers {
		qkv := times(normed(row, of(Norm1, l)), of(QKV, l))
		value := qkv[len(qkv)-small.Dim:]
		tensor.Float16.Round(value) // as the cache has it
		add(row, times(append(append([]float32{}, value...), value...), of(Out, l)))
		both := times(normed(row, of(Norm2, l)), of(GateUp, l))
		inside := make([]float32, small.MLP)
		for i := range inside {
			inside[i] = both[i] / float32(1+math.Exp(-float64(both[i]))) * both[small.MLP+i]
		}
		add(row, times(inside, of(Down, l)))
	}
	if off := apart(got, times(normed(row, of(Last, 0)), of(Head, 0))); !(off < 1e-3) {
		t.Errorf("the first token's logits are %.2g off", off)
	}
}

func normed(x, gain []float32) []float32 {
	var sum float64
	for _, v := range x {
		sum += float64(v * v)
	}
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = v / float32(math.Sqrt(sum/float64(len(x))+kit.Epsilon)) * gain[i]
	}
	return y
}

func times(x, w []float32) []float32 {
	y := make([]float32, len(w)/len(x))
	for o := range y {
		for i, v := range x {
			y[o] += v * w[o*len(x)+i]
		}
	}
	return y
}

func add(x, y []float32) {
	for i, v := range y {
		x[i] += v
	}
}

// Four bits are near halves, and not the same, once a group of the cache is full.
func TestWays(t *testing.T) {
	halves := newDecoded(t, Way{})
	kivi, int4 := newDecoded(t, Way{KIVI: true}), newDecoded(t, Way{INT4: true})
	for i := range 2 * CacheGroup {
		want := halves.step(i)
		if off := apart(kivi.step(i), want); !(off < 0.5) || (i < CacheGroup-1) != (off < 1e-3) {
			t.Errorf("KIVI, after %d tokens: %.2g off halves", i+1, off)
		}
		if off := apart(int4.step(i), want); !(off < 0.9) || off < 1e-3 {
			t.Errorf("INT4, after %d tokens: %.2g off halves", i+1, off)
		}
	}
}

// A recorded step gives what the step itself gives.
func TestRecorded(t *testing.T) {
	one, other := newDecoded(t, Way{KIVI: true, INT4: true}), newDecoded(t, Way{KIVI: true, INT4: true})
	for i := range 2 * CacheGroup {
		if i == 2 {
			var err error
			other.graph, err = other.d.Record(func(device.Queue) error { return other.m.Step(other.logits, other.tokens, other.lengths) })
			other.must(err)
		}
		if off := apart(other.step(i), one.step(i)); !(off < 1e-6) {
			t.Fatalf("step %d of a recorded graph is %.2g off", i, off)
		}
	}
}

func TestSheet(t *testing.T) {
	for i, s := range Sheets {
		if s == (Sheet{}) {
			t.Errorf("Sheets[%d] in sheet.go is not filled in", i)
		}
	}
	if Read(small, Way{}, 1) == (Reads{}) {
		t.Error("Read in sheet.go is still the stub")
	}
}
