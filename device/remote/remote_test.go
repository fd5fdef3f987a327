package remote

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/protocol"
)

// connect serves a fake device and returns a client of it. The server finds what the client compiles.
func connect(t *testing.T, s *Server) device.Device {
	t.Helper()
	here, there := net.Pipe()
	shelf := Shelf{}
	if s.Find == nil {
		s.Find = shelf.Find
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(there) }()
	d, err := Dial(here)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, d.Close())
		require.NoError(t, <-done, "a client that hangs up is no error")
	})
	return Shelved{d, shelf}
}

func TestMemoryRoundTrips(t *testing.T) {
	d := connect(t, &Server{Device: newFake()})
	assert.Equal(t, "fake", d.Info().Name)
	b, err := device.Upload(d, "x", []float32{1, 2, 3, 4})
	require.NoError(t, err)
	part, err := b.Slice(1, 3)
	require.NoError(t, err)
	require.NoError(t, part.CopyIn(d, []float32{7, 8}))
	got, err := b.CopyOut(d)
	require.NoError(t, err)
	assert.Equal(t, []float32{1, 7, 8, 4}, got)
	require.NoError(t, d.Poison(part.Memory()))
	got, err = part.CopyOut(d)
	require.NoError(t, err)
	assert.True(t, math.IsNaN(float64(got[0])))
	require.NoError(t, b.Free(d))
	assert.ErrorContains(t, b.CopyIn(d, []float32{1, 2, 3, 4}), "copyin x: the buffer is not allocated, or was freed")
}

func TestLargeCopiesTravelInParts(t *testing.T) {
	d := connect(t, &Server{Device: newFake()})
	data := make([]byte, protocol.Chunk+4096)
	data[0], data[protocol.Chunk-1], data[protocol.Chunk], data[len(data)-1] = 1, 2, 3, 4
	m, err := d.Malloc("large", int64(len(data)))
	require.NoError(t, err)
	require.NoError(t, d.CopyIn(m, data))
	back := make([]byte, len(data))
	require.NoError(t, d.CopyOut(back, m))
	assert.True(t, bytes.Equal(data, back))
}

func TestAddressesAreChecked(t *testing.T) {
	f := newFake()
	d := connect(t, &Server{Device: f})
	m, err := d.Malloc("x", 64)
	require.NoError(t, err)
	for name, bad := range map[string]device.Memory{
		"before":   {Addr: m.Addr - 4, Bytes: 8},
		"beyond":   {Addr: m.Addr + 60, Bytes: 8},
		"negative": {Addr: m.Addr, Bytes: -1},
		"wraps":    {Addr: m.Addr, Bytes: math.MaxInt64},
		"nothing":  {Addr: 0, Bytes: 4},
		"end":      {Addr: m.Addr + 64, Bytes: 1},
	} {
		assert.Error(t, d.Set(bad, 0), name)
		assert.Error(t, d.Poison(bad), name)
		assert.Error(t, d.Free(bad), name)
	}
	assert.Error(t, d.Free(device.Memory{Addr: m.Addr, Bytes: 32}), "part of a block")
	require.NoError(t, d.Free(m))
	assert.Error(t, d.Free(m), "twice")
}

const text = `extern "C" __global__ void k(const float *x, double *y, unsigned char *z, int n, float f, double d, unsigned long long u, bool b) {}`

func TestLaunchArgumentsArriveIntact(t *testing.T) {
	f := newFake()
	d := connect(t, &Server{Device: f})
	m, err := d.Compile(device.Source{Name: "k.cu", Text: text})
	require.NoError(t, err)
	k, err := m.Kernel("k")
	require.NoError(t, err)
	assert.Equal(t, "int", k.Signature().Params[3].Type)
	x, _ := device.Alloc[float32](d, "x", 5)
	y, _ := device.Alloc[float64](d, "y", 5)
	z, _ := device.Alloc[uint8](d, "z", 5)
	tail, _ := x.Slice(3, 5)
	one := device.Launch{Grid: device.D1(1), Block: device.D1(1)}
	args := []any{tail, y, z, -3, float32(-0.1), math.Pi, uint64(math.MaxUint64), true}
	require.NoError(t, d.Launch(k, one, args...))
	want, err := device.LayOut(k.Signature(), args)
	require.NoError(t, err)
	assert.Equal(t, want, f.launched)

	require.ErrorIs(t, d.Launch(k, one, 1), device.ErrLaunch)
	args[0] = y
	require.ErrorContains(t, d.Launch(k, one, args...), `"y" holds double`)
	args[0] = x
	require.ErrorIs(t, d.Launch(k, device.Launch{Block: device.D1(1)}, args...), device.ErrLaunch)
	require.NoError(t, x.Free(d))
	require.ErrorContains(t, d.Launch(k, one, args...), "argument 1 (const float * x): the buffer is not allocated, or was freed")
	require.ErrorIs(t, d.Launch(nil, one), device.ErrLaunch)
}

func TestErrorsKeepTheirTypes(t *testing.T) {
	f := newFake()
	texts := map[string]string{"k.cu": `extern "C" __global__ void k() {}`, "oops.cu": "oops"}
	d := connect(t, &Server{Device: f, Find: func(s device.Source) (device.Source, error) {
		if s.Text = texts[s.Name]; s.Text == "" {
			return s, errors.New("not allowed")
		}
		return s, nil
	}})
	_, err := d.Compile(device.Source{Name: "oops.cu"})
	var compile *device.CompileError
	require.ErrorAs(t, err, &compile)
	assert.Equal(t, 3, compile.Diagnostics[0].Line)
	_, err = d.Compile(device.Source{Name: "vetted.cu"})
	assert.EqualError(t, err, "not allowed")
	_, err = d.Malloc("x", 1<<40)
	require.ErrorIs(t, err, device.ErrOutOfMemory)
	assert.ErrorContains(t, err, "alloc x")
	_, err = d.NewEvent()
	require.ErrorIs(t, err, device.ErrNoClock)

	m, err := d.Compile(device.Source{Name: "k.cu"})
	require.NoError(t, err)
	_, err = m.Kernel("other")
	require.ErrorContains(t, err, "it has k")
	k, err := m.Kernel("k")
	require.NoError(t, err)
	f.fail = fmt.Errorf("launch k: %w", &device.FaultError{Kernel: "k", Reason: "out of bounds"})
	err = d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(1)})
	require.ErrorIs(t, err, device.ErrFault)
	var fault *device.FaultError
	require.ErrorAs(t, err, &fault)
	assert.Equal(t, "out of bounds", fault.Reason)
	assert.EqualError(t, err, "launch k: kernel k stopped: out of bounds")
}

func TestALostConnectionIsAnError(t *testing.T) {
	here, there := net.Pipe()
	go func() { _ = (&Server{Device: newFake()}).Serve(there) }()
	d, err := Dial(here)
	require.NoError(t, err)
	there.Close()
	_, err = d.Malloc("x", 4)
	require.ErrorContains(t, err, "connection to the device is lost")
	require.Error(t, d.Sync())
}

func TestCubinTravels(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	shelf := Shelf{"k.cu": {Name: "k.cu", Text: "#include \"rows.cuh\"",
		Files: map[string]string{"rows.cuh": `extern "C" __global__ void sums(int n) {}`}}}
	s := &Server{Find: shelf.Find, Cubin: func(src device.Source, arch string) ([]byte, error) {
		return []byte(src.Text[:8] + arch), nil
	}}
	go func() { _ = s.Serve(there) }()
	data, kernels, err := Cubin(here)(device.Source{Name: "k.cu"}, "sm_90")
	require.NoError(t, err)
	assert.Equal(t, "#includesm_90", string(data))
	if assert.NotEmpty(t, kernels, "of a header that this side lacks") {
		assert.Equal(t, "sums", kernels[0].Name)
	}
	_, _, err = Cubin(here)(device.Source{Name: "k.cu", Text: "int x;"}, "sm_90")
	require.ErrorIs(t, err, device.ErrText)
	_, err = Dial(here)
	require.ErrorContains(t, err, "only compiles")
}

func TestHeapFindsBlocks(t *testing.T) {
	var h heap
	for _, at := range []uint64{300, 100, 200} {
		h.add(device.Memory{Addr: at, Bytes: 50})
	}
	for addr, want := range map[uint64]uint64{100: 100, 149: 100, 200: 200, 349: 300} {
		m, ok := h.find(addr)
		assert.True(t, ok)
		assert.Equal(t, want, m.Addr)
	}
	for _, addr := range []uint64{0, 99, 150, 250, 350} {
		_, ok := h.find(addr)
		assert.False(t, ok, fmt.Sprint(addr))
	}
}
