package worker

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/wire"
	"flashlab/grader/tasks/rooms"
	"flashlab/tensor"
)

// library is a device with a library of products, which it does on the host.
type library struct {
	device.Device
	products []device.Product
	spoil    func(p *device.Product) // a mistake of the library's, or of who asks
}

func (l *library) Limits() (device.Limits, error)    { return device.Limits{L2: 1 << 20}, nil }
func (l *library) FreeMemory() (int64, error)        { return 1 << 20, nil }
func (l *library) Library() (string, error)          { return "products on the host", nil }
func (l *library) Copy(dst, src device.Memory) error { return nil }
func (l *library) numbers(ty tensor.Type, at uint64, n int) ([]float32, error) {
	raw := make([]byte, ty.Bytes(n))
	err := l.CopyOut(raw, device.Memory{Addr: at, Bytes: int64(len(raw)), Name: "an operand"})
	return ty.Decode(raw), err
}

func (l *library) Multiply(c, a, b device.Memory, p device.Product) error {
	if l.spoil != nil {
		l.spoil(&p)
	}
	l.products = append(l.products, p)
	for i := range p.Batch {
		next := func(m device.Memory, ty tensor.Type, stride int64) uint64 {
			return m.Addr + uint64(ty.Bytes(i*int(stride)))
		}
		if err := l.one(next(c, p.Out, p.NextC), next(a, p.Type, p.NextA), next(b, p.Type, p.NextB), p); err != nil {
			return err
		}
	}
	return nil
}

func (l *library) MultiplyAt(at device.Buffer[uint64], p device.Product) error {
	if l.spoil != nil {
		l.spoil(&p)
	}
	l.products = append(l.products, p)
	places, err := at.CopyOut(l.Device)
	if err != nil {
		return err
	}
	for i := range p.Batch {
		if err := l.one(places[i], places[p.Batch+i], places[2*p.Batch+i], p); err != nil {
			return err
		}
	}
	return nil
}

// one is a product, with sums in float64.
func (l *library) one(c, a, b uint64, p device.Product) error {
	rows, each, step := p.K, 1, p.RowB // b [K, N]
	if p.TransB {
		rows, each, step = p.N, p.RowB, 1
	}
	x, err := l.numbers(p.Type, a, (p.M-1)*p.RowA+p.K)
	if err != nil {
		return err
	}
	y, err := l.numbers(p.Type, b, (rows-1)*p.RowB+min(p.RowB, p.N+p.K-rows))
	if err != nil {
		return err
	}
	for i := range p.M {
		row := make([]float32, p.N)
		for j := range row {
			sum := 0.0
			for k := range p.K {
				sum += float64(x[i*p.RowA+k]) * float64(y[j*each+k*step])
			}
			row[j] = p.Scale * float32(sum)
		}
		raw := p.Out.Encode(row)
		if err := l.CopyIn(device.Memory{Addr: c + uint64(p.Out.Bytes(i*p.RowC)), Bytes: int64(len(raw)), Name: "a product"}, raw); err != nil {
			return err
		}
	}
	return nil
}

// sixteen are the operations on tensors of 16 bits whose baseline goes through the library, by whether it
// writes the outputs.
var sixteen = map[string]bool{"halves_float16": true, "halves_bfloat16": true, "int8_block": true, "int8_tensor": true, "decode_float16": true, "decode_bfloat16": true,
	"qkv_float16": false, "qkv_bfloat16": false, "project_nf4": false, "project_mxfp4": false, "row": false, "rows": false}

// baselineOf runs a baseline of an operation, on its small workload. Pieces of its output are judged, if it writes any.
func baselineOf(t *testing.T, l *library, name string, who wire.Who) (j judge.Judgement, types []tensor.Type) {
	t.Helper()
	op, err := rooms.Ops.Find(name)
	require.NoError(t, err)
	c, err := op.TimedCase(op.TimedSpec(op.Timed.Small, false))
	require.NoError(t, err)
	s := &timedCase{Job: &Job{Problem: c, Device: l}, bench: l}
	defer s.close()
	s.gauge, err = newGauge(l)
	require.NoError(t, err)
	s.in, err = s.arenas(s.Inputs)
	require.NoError(t, err)
	s.out, err = s.arenas(s.Outputs)
	require.NoError(t, err)
	s.base, err = s.findBaseline()
	require.NoError(t, err)
	const seed = 77
	l.products = nil
	call, err := s.call(wire.Turn{Who: who, Seed: seed})
	require.NoError(t, err)
	require.NoError(t, call())
	for _, p := range l.products {
		types = append(types, p.Type, p.Out)
	}
	if !sixteen[name] {
		assert.Empty(t, s.now.out, "there is no output to look at")
		return judge.Judgement{Passed: true}, types
	}
	c.Seed = seed
	size := op.Timed.Piece(c)
	last := s.Outputs[0].Elements() - size
	got, err := s.pieces(wire.Turn{Rows: []int{0, last}, Size: size})
	require.NoError(t, err)
	return op.Timed.Judge(c, []int{0, last}, got), types
}

// TestBaselinesHaveTheInputsPrecision: what speed is marked against multiplies numbers of 16 bits where the task's are of
// 16 bits or fewer, and is right; so is the same in float32, which is shown beside it.
func TestBaselinesHaveTheInputsPrecision(t *testing.T) {
	l := &library{Device: attntest.Device(t)}
	for name := range sixteen {
		op, err := rooms.Ops.Find(name)
		require.NoError(t, err)
		c, err := op.TimedCase(op.TimedSpec(op.Timed.Small, false))
		require.NoError(t, err)
		own := c.Inputs[0].Type
		require.Equal(t, 16, own.Bits(), name)

		j, types := baselineOf(t, l, name, wire.Baseline)
		assert.True(t, j.Passed, "%s: %+v", name, j)
		assert.NotEmpty(t, types)
		for i, ty := range types {
			assert.True(t, ty == own || i%2 == 1 && i < len(types)-1 && ty == tensor.Float32, "%s: products of %v: only scores may be in float32", name, types)
		}

		j, types = baselineOf(t, l, name, wire.Wide)
		assert.True(t, j.Passed, "%s, wide: %+v", name, j)
		assert.False(t, slices.ContainsFunc(types, func(ty tensor.Type) bool { return ty != tensor.Float32 }), "%s, wide: %v", name, types)
	}
	// And the judge would see a baseline that is wrong.
	l.spoil = func(p *device.Product) { p.Scale /= 2 }
	for name, writes := range sixteen {
		if j, _ := baselineOf(t, l, name, wire.Baseline); writes {
			assert.False(t, j.Passed, name)
		}
	}
}

// TestEveryNarrowBaselineIsHeld: an operation that is timed on 16 bits has its baseline in that precision, or says
// that it needs no library for it.
func TestEveryNarrowBaselineIsHeld(t *testing.T) {
	without := []string{"decode_int8", "decode_int4", "decode_recorded", // only reading; and a check without points for speed
		"backward_float16", "backward_bfloat16"} // as b10's are
	seen := 0
	for _, op := range rooms.Ops {
		if op.Timed == nil || op.Timed.Truth == nil {
			continue
		}
		c, err := op.TimedCase(op.TimedSpec(op.Timed.Small, false))
		if err != nil { // some want a mask
			c, err = op.TimedCase(op.TimedSpec(op.Timed.Small, true))
		}
		require.NoError(t, err, op.Name)
		if c.Inputs[0].Type == tensor.Float32 || slices.Contains(without, op.Name) {
			continue
		}
		seen++
		_, is := sixteen[op.Name]
		assert.True(t, is, "%s: its baseline is in no test here", op.Name)
	}
	assert.GreaterOrEqual(t, seen, len(sixteen))
}

// TestTensorProducts: the kernel that measures tensor cores runs, wherever it can.
func TestTensorProducts(t *testing.T) {
	g, err := newGauge(attntest.Device(t))
	require.NoError(t, err)
	defer g.close()
	require.NoError(t, g.d.Set(g.count.Memory(), 0))
	call, err := g.tensorProducts(1)
	require.NoError(t, err)
	require.NoError(t, call())
	n, err := g.count.CopyOut(g.d)
	require.NoError(t, err)
	assert.Zero(t, n[0], "it writes nothing")
}
