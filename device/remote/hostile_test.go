package remote

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/protocol"
	"flashlab/internal/mutate"
)

// FuzzServe: whatever a client says, the server does not panic, nor does the
// device see an address that it did not hand out.
func FuzzServe(f *testing.F) {
	f.Add(script())
	f.Add([]byte("garbage that is no message at all"))
	f.Add([]byte{2, 0, 0, 0, byte(protocol.OpCompile), 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, byte(protocol.OpCopyIn)})
	mutate.Corpus(f)
	f.Fuzz(func(t *testing.T, data []byte) { play(t, data) })
}

// play has a server answer bytes; the fake panics at a bad address, which the
// server would report as a failure of the device.
func play(t *testing.T, data []byte) error {
	_, _ = listen(t, data, false)
	_, err := listen(t, data, true)
	return err
}

// listen is play of one kind of device, and returns the last answer.
func listen(t *testing.T, data []byte, direct bool) (protocol.Message, error) {
	answers, device := &answerCheck{t: t}, newFake()
	device.direct = direct
	err := (&Server{Device: device, Find: files.Find}).Serve(struct {
		io.Reader
		io.Writer
	}{bytes.NewReader(data), answers})
	return answers.last, err
}

// send appends a request with the bytes of a copy.
func send(to []byte, op protocol.Op, data []byte, parts ...any) []byte {
	b := bytes.NewBuffer(to)
	_ = protocol.Send(b, protocol.New(op, parts...), data) // a Buffer takes everything
	return b.Bytes()
}

// files are those that a client may name.
var files = Shelf{
	"k.cu":   {Name: "k.cu", Text: text},
	"odd.cu": {Name: "odd.cu", Text: `extern "C" __global__ void k(float *x, int n, float4 *y) {} extern "C" __global__ void odd(float4 v) {}`},
}

// block is where the fake's first allocation lies.
const block = 1 << 20

// script is bytes that ask for everything once, rightly.
func script() []byte {
	values := []device.Value{{Size: 8, Bits: block}, {Size: 8, Bits: block}, {Size: 8, Bits: block}, {Size: 4}, {Size: 4}, {Size: 8}, {Size: 8}, {Size: 1}}
	mem := device.Memory{Addr: block, Bytes: 64, Name: "x"}
	b := send(nil, protocol.OpInfo, nil)
	b = send(b, protocol.OpAllocate, nil, device.Memory{Bytes: 64, Name: "x"})
	b = send(b, protocol.OpCopyIn, make([]byte, 64), mem)
	b = send(b, protocol.OpSet, nil, mem, byte(3))
	b = send(b, protocol.OpPoison, nil, mem)
	b = send(b, protocol.OpCopyOut, nil, mem)
	b = send(b, protocol.OpCompile, nil, protocol.Named{Name: "k.cu", Defines: map[string]string{"N": "4"}})
	b = send(b, protocol.OpKernel, nil, 1, "k")
	b = send(b, protocol.OpLaunch, nil, protocol.Launch{Kernel: 1, Shape: protocol.Shape{Grid: device.D1(1), Block: device.D1(1)}, Args: values})
	b = send(b, protocol.OpAttributes, nil, 1)
	b = send(b, protocol.OpSync, nil)
	return send(b, protocol.OpFree, nil, mem)
}

// TestABodyThatBreaksOffIsRefused: each request of a session, cut off at each byte
// and with its length set right, is answered by an error, and the session goes on.
func TestABodyThatBreaksOffIsRefused(t *testing.T) {
	requests := bytes.NewBuffer(script())
	var before []byte
	for {
		request, err := protocol.ReceiveRequest(requests)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		for n := len(request) - 1; n >= 5; n-- {
			var cut bytes.Buffer
			require.NoError(t, protocol.Send(&cut, bytes.Clone(request[:n]), nil))
			last, err := listen(t, append(bytes.Clone(before), cut.Bytes()...), n%2 == 0)
			require.NoError(t, err)
			assert.Equal(t, protocol.Failed, last.Status(), "request %d, %d of %d bytes", request.Op(), n, len(request))
		}
		before = append(before, request...)
	}
	require.NoError(t, play(t, before))
}

// TestALaunchOnTheWayIsChecked: a device that takes launches as they travel sees none
// that another device would refuse.
func TestALaunchOnTheWayIsChecked(t *testing.T) {
	before := send(nil, protocol.OpAllocate, nil, device.Memory{Bytes: 64})
	before = send(before, protocol.OpCompile, nil, protocol.Named{Name: "odd.cu"})
	before = send(before, protocol.OpKernel, nil, 1, "k")
	before = send(before, protocol.OpKernel, nil, 1, "odd")
	type args = []device.Value
	one := protocol.Shape{Grid: device.D1(1), Block: device.D1(1)}
	x, n := device.Value{Size: 8, Bits: block}, device.Value{Size: 4, Bits: 3}
	for name, c := range map[string]struct {
		launch protocol.Launch
		want   protocol.Status
	}{
		"right":            {protocol.Launch{Kernel: 1, Shape: one, Args: args{x, n, {Size: 8, Bits: block + 63}}}, protocol.OK},
		"another kernel":   {protocol.Launch{Kernel: 3, Shape: one, Args: args{x, n, x}}, protocol.Failed},
		"a wild pointer":   {protocol.Launch{Kernel: 1, Shape: one, Args: args{x, n, {Size: 8, Bits: block + 64}}}, protocol.Failed},
		"a null pointer":   {protocol.Launch{Kernel: 1, Shape: one, Args: args{{Size: 8}, n, x}}, protocol.OK},
		"a wide integer":   {protocol.Launch{Kernel: 1, Shape: one, Args: args{x, {Size: 8, Bits: 3}, x}}, protocol.Failed},
		"a narrow pointer": {protocol.Launch{Kernel: 1, Shape: one, Args: args{{Size: 4, Bits: block}, n, x}}, protocol.Failed},
		"too few":          {protocol.Launch{Kernel: 1, Shape: one, Args: args{x, n}}, protocol.Failed},
		"too many":         {protocol.Launch{Kernel: 1, Shape: one, Args: args{x, n, x, n}}, protocol.Failed},
		"a struct":         {protocol.Launch{Kernel: 2, Shape: one, Args: args{{}}}, protocol.Failed},
		"no threads":       {protocol.Launch{Kernel: 1, Shape: protocol.Shape{Grid: device.D1(1)}, Args: args{x, n, x}}, protocol.Failed},
		"a flat grid":      {protocol.Launch{Kernel: 1, Shape: protocol.Shape{Grid: device.Dim{X: 1}, Block: device.D1(1)}, Args: args{x, n, x}}, protocol.Failed},
		"a wrapped grid":   {protocol.Launch{Kernel: 1, Shape: protocol.Shape{Grid: device.D1(1<<32 + 1), Block: device.D1(1)}, Args: args{x, n, x}}, protocol.Failed},
		"much shared":      {protocol.Launch{Kernel: 1, Shape: protocol.Shape{Grid: device.D1(1), Block: device.D1(1), Shared: -1}, Args: args{x, n, x}}, protocol.Failed},
	} {
		for _, direct := range []bool{false, true} {
			last, err := listen(t, send(bytes.Clone(before), protocol.OpLaunch, nil, c.launch), direct)
			require.NoError(t, err)
			assert.Equal(t, c.want, last.Status(), "%s: %s", name, last.Body())
		}
	}
}

// TestBytesThatBreakOffEndTheSession: a connection that ends within a request is an
// error of the connection.
func TestBytesThatBreakOffEndTheSession(t *testing.T) {
	all := script()
	for n := range len(all) {
		if err := play(t, all[:n]); err != nil {
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF, n)
		}
	}
}

// TestNoise: random bytes, and sessions with random bytes in them, reach no device.
func TestNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	whole := script()
	for range 500 {
		noise := make([]byte, r.IntN(200))
		for i := range noise {
			noise[i] = byte(r.Uint32())
		}
		_ = play(t, noise) // an error, never a panic
		noisy := bytes.Clone(whole)
		for range 1 + r.IntN(8) {
			noisy[r.IntN(len(noisy))] = byte(r.Uint32())
		}
		_ = play(t, noisy)
	}
}

// TestAbuse sends well-formed nonsense.
func TestAbuse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	number := func() int64 {
		return []int64{0, 1, -1, 4, 64, block, block + 4, math.MaxInt64, math.MinInt64, 1 << 40}[r.IntN(10)]
	}
	var b []byte
	for range 20000 {
		id := uint64(number())
		mem := device.Memory{Addr: uint64(number()), Bytes: number() % (1 << 30), Name: "k"}
		switch op := protocol.Op(r.IntN(26)); op {
		case protocol.OpAllocate:
			mem.Bytes %= 128
			b = send(b, op, nil, mem)
		case protocol.OpSet:
			b = send(b, op, nil, mem, byte(0))
		case protocol.OpCopyIn:
			b = send(b, op, make([]byte, r.IntN(3)*4), mem)
		case protocol.OpCompile:
			b = send(b, op, nil, protocol.Named{Name: "k.cu"})
		case protocol.OpKernel:
			b = send(b, op, nil, id, "k")
		case protocol.OpLaunch:
			l := protocol.Launch{Kernel: id, Shape: protocol.Shape{Grid: device.D1(int(number())), Block: device.Dim{X: int(number()), Y: r.IntN(2), Z: 1}}}
			for i := range r.IntN(12) {
				l.Args = append(l.Args, device.Value{Size: []int{8, 8, 8, 4, 4, 8, 8, 1, 0, -1, 3, 16}[i], Bits: uint64(number())})
			}
			b = send(b, op, nil, l)
		case protocol.OpAttributes:
			b = send(b, op, nil, id)
		default:
			b = send(b, op, nil, mem)
		}
	}
	require.NoError(t, play(t, b))
}

// answerCheck reads answers, each of which is written at once or its copy behind it.
type answerCheck struct {
	t    *testing.T
	last protocol.Message
}

func (a *answerCheck) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("device failed")) {
		a.t.Errorf("the device saw nonsense: %s", p)
	}
	a.last = bytes.Clone(p)
	return len(p), nil
}
