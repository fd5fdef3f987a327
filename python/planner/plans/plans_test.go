package plans

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/tensor"
)

const kernels = `
extern "C" __global__ void twice(const float *x, float *between, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        between[i] = 2 * x[i];
}
extern "C" __global__ void add(const float *between, const float *table, float *out, int n, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = scale * between[i] + table[i % 4];
}
`

// sum launches two kernels with scratch between them, a table from the host, and a buffer that begins in
// the midst of another.
func sum(c *Call) error {
	n := c.Size("n")
	table, err := device.Upload(c.Queue, "table", []float32{1, 2, 3, 4})
	if err != nil {
		return err
	}
	module, err := c.Queue.Compile(device.Source{Name: "kernels.cu", Text: kernels})
	if err != nil {
		return err
	}
	twice, err := module.Kernel("twice")
	if err != nil {
		return err
	}
	add, err := module.Kernel("add")
	if err != nil {
		return err
	}
	between, err := device.Alloc[float32](c.Queue, "between", n+3)
	if err != nil {
		return err
	}
	if err := c.Queue.Set(between.Memory(), 0); err != nil {
		return err
	}
	if between, err = between.Slice(3, n+3); err != nil {
		return err
	}
	l := device.Launch{Grid: device.D1((n + 31) / 32), Block: device.D1(32)}
	if err := c.Queue.Launch(twice, l, Tensor[float32](c, "x", n), between, n); err != nil {
		return err
	}
	return c.Queue.Launch(add, l, between, table, Tensor[float32](c, "out", n), n, 0.5)
}

func ask(t *testing.T, op Op, sizes map[string]int) Plan {
	t.Helper()
	line, err := json.Marshal(Request{Op: "op", Sizes: sizes, Offsets: map[string]int{"x": 4},
		Device: device.Info{Arch: "sm_90", Processors: 132, WarpSize: 32, MaxThreads: 1024, MaxShared: 232448}})
	require.NoError(t, err)
	return answer(line, map[string]Op{"op": op}, nil, nil)
}

func TestPlan(t *testing.T) {
	p := ask(t, sum, map[string]int{"n": 100})
	require.Empty(t, p.Error)
	require.Len(t, p.Steps, 4, "a copy, a fill and two launches")
	assert.Equal(t, [3]int{4, 1, 1}, p.Steps[2].Launch.Grid)
	assert.Equal(t, []Pointer{{0, 2, 0}}, p.Steps[2].Launch.Arguments[0].Pointers)
	assert.Equal(t, []Pointer{{0, 1, 12}}, p.Steps[2].Launch.Arguments[1].Pointers, "behind three numbers")
	assert.Equal(t, []byte{100, 0, 0, 0}, p.Steps[2].Launch.Arguments[2].Bytes)
	assert.EqualValues(t, 4, p.Blocks[2].base%256, "x begins where it was said to")
}

// TestReplayed: what is done on a device by the plan alone is what the code does.
func TestReplayed(t *testing.T) {
	const n = 100
	p := ask(t, sum, map[string]int{"n": n})
	require.Empty(t, p.Error)
	d := attntest.Device(t)
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i)
	}
	memory := make([]device.Memory, len(p.Blocks))
	var out device.Buffer[float32]
	for i, b := range p.Blocks {
		buffer := attntest.Output(t, d, b.Name, int(b.Bytes/4))
		if b.Name == "x" {
			buffer = attntest.Input(t, d, b.Name, x)
		}
		if b.Name == "out" {
			out = buffer
		}
		memory[i] = buffer.Memory()
	}
	for _, s := range p.Steps {
		replay(t, d, p, memory, s)
	}
	require.NoError(t, d.Sync())
	got, err := out.CopyOut(d)
	require.NoError(t, err)
	attntest.Findings(t, d)
	for i, v := range got {
		require.Equal(t, x[i]+float32(i%4+1), v, "element %d", i)
	}
}

// TestTensorMap: Python encodes one from its shape, and moves it to where the tensor is in a call.
func TestTensorMap(t *testing.T) {
	p := ask(t, func(c *Call) error {
		module, err := c.Queue.Compile(device.Source{Name: "boxes.cu", Text: `extern "C" __global__ void boxes(const __grid_constant__ CUtensorMap map, int n) {}`})
		if err != nil {
			return err
		}
		k, err := module.Kernel("boxes")
		if err != nil {
			return err
		}
		tail, err := Tensor[float32](c, "q", 8*40).Slice(40, 8*40)
		if err != nil {
			return err
		}
		m, err := device.NewTensorMap(tail.Memory(), tensor.Float32, []int{40, 7}, []int{32, 4}, 128)
		if err != nil {
			return err
		}
		return c.Queue.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(32)}, m, 7)
	}, nil)
	require.Empty(t, p.Error)
	a := p.Steps[0].Launch.Arguments[0]
	assert.Len(t, a.Bytes, 128)
	assert.Equal(t, []Pointer{{0, 0, 160}}, a.Pointers)
	assert.Equal(t, &Map{7, []int{40, 7}, []int64{160}, []int{32, 4}, 128}, a.Map)
}

func replay(t *testing.T, d device.Device, p Plan, memory []device.Memory, s Step) {
	t.Helper()
	if f := s.Fill; f != nil {
		m := memory[f.Block]
		m.Addr, m.Bytes = m.Addr+uint64(f.Offset), f.Bytes
		if f.Data != nil {
			require.NoError(t, d.CopyIn(m, f.Data))
			return
		}
		require.NoError(t, d.Set(m, f.Value))
		return
	}
	module, err := d.Compile(device.Source{Name: "kernels.cu", Text: p.Modules[s.Launch.Module].Text})
	require.NoError(t, err)
	k, err := module.Kernel(s.Launch.Kernel)
	require.NoError(t, err)
	var args []any
	for _, a := range s.Launch.Arguments {
		v := device.Value{Size: len(a.Bytes)}
		for i, b := range a.Bytes {
			v.Bits |= uint64(b) << (8 * i)
		}
		for _, at := range a.Pointers {
			v.Bits = memory[at.Block].Addr + uint64(at.Offset)
		}
		args = append(args, v)
	}
	g, b := s.Launch.Grid, s.Launch.Block
	require.NoError(t, d.Launch(k, device.Launch{Grid: device.D3(g[0], g[1], g[2]), Block: device.D3(b[0], b[1], b[2]), Shared: s.Launch.Shared}, args...))
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, kind, says string
		op               Op
	}{
		{"a stub", "stub", "not implemented", func(*Call) error { return attn.ErrNotImplemented }},
		{"nothing launched", "stub", "launches nothing", func(*Call) error { return nil }},
		{"a panic", "refused", "panics", func(*Call) error { panic("index out of range") }},
		{"numbers read back", "refused", `copies "x" back`, func(c *Call) error {
			_, err := Tensor[float32](c, "x", 3).CopyOut(c.Queue)
			return err
		}},
		{"a size that is not there", "refused", `"m" is missing`, func(c *Call) error { c.Size("m"); return nil }},
		{"another argument", "refused", "want a Buffer of float", func(c *Call) error {
			module, err := c.Queue.Compile(device.Source{Name: "kernels.cu", Text: kernels})
			if err != nil {
				return err
			}
			k, err := module.Kernel("twice")
			if err != nil {
				return err
			}
			return c.Queue.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(1)}, 1, 2, 3)
		}},
		{"a block too large", "refused", "a block holds 1024 at most", func(c *Call) error {
			module, err := c.Queue.Compile(device.Source{Name: "kernels.cu", Text: kernels})
			if err != nil {
				return err
			}
			k, err := module.Kernel("twice")
			if err != nil {
				return err
			}
			x := Tensor[float32](c, "x", 4)
			return c.Queue.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(2048)}, x, x, 4)
		}},
	} {
		p := ask(t, c.op, nil)
		assert.Equal(t, c.kind, p.Kind, c.name)
		assert.Contains(t, p.Error, c.says, c.name)
	}
}
