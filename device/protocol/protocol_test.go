package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/internal/mutate"
)

// all has a part of each kind, with something in every field.
func all() []any {
	return []any{
		uint64(math.MaxUint64), -1, byte(200), "sm_90", true, []string{"a", "", "ccc"}, (*[3]int)(nil), &[3]int{1, 2, 3},
		device.Memory{Addr: 1 << 40, Bytes: 64, Name: "x"},
		device.Attributes{Registers: -1, SharedBytes: 48, LocalBytes: -1, MaxThreads: 1024},
		device.Info{Kind: device.Sim, Name: "n", Arch: "a", Processors: 1, WarpSize: 32, MaxThreads: 3, MaxShared: 4, MemoryBytes: 1 << 40, DriverVersion: "d", ToolkitVersion: "t"},
		device.Signature{Name: "k", Line: 7, Params: []device.Param{{Name: "x", Type: "float *", Kind: device.Pointer, Size: 8, Elem: "float"}, {Name: "n", Kind: device.Int, Size: 4, Unsigned: true}}},
		Named{Folder: "task4_flash", Name: "k.cu", Defines: map[string]string{"BR": "64", "BC": ""}, Kernels: []string{"k<1>"}},
		Launch{5, Shape{Grid: device.D3(1, 2, 3), Block: device.D3(4, 5, 6), Shared: 7}, []device.Value{{Size: 4, Bits: 8}, {Size: 8, Bits: math.MaxUint64}, {Size: 3, More: []byte{1, 2, 3}}}},
		NewFailure(&device.CompileError{File: "k.cu", Output: "o", Diagnostics: []device.Diagnostic{{File: "k.cu", Line: 1, Column: 2, Severity: "error", Text: "t"}}}),
	}
}

// room is where a part of the same kind can be read to.
func room(part any) any { return reflect.New(reflect.TypeOf(part)).Interface() }

func TestPartsTravel(t *testing.T) {
	for _, sent := range all() {
		var wire bytes.Buffer
		require.NoError(t, Send(&wire, New(OpLaunch, sent), nil))
		m, err := ReceiveRequest(&wire)
		require.NoError(t, err)
		assert.Equal(t, OpLaunch, m.Op())
		got := room(sent)
		require.NoError(t, m.Decode(got), "%T", sent)
		assert.Equal(t, sent, reflect.ValueOf(got).Elem().Interface())
	}
	var data Data
	require.NoError(t, append(New(OpCopyIn, "x"), 1, 2).Decode(new(string), &data))
	assert.Equal(t, Data{1, 2}, data)
	_, err := Receive(&bytes.Buffer{})
	assert.Equal(t, io.EOF, err, "the end between two messages is a proper one")
	assert.Panics(t, func() { New(OK, 1.5) }, "a type that no message has")
}

// TestTheBytesOfALaunch: the C++ of the simulator reads these.
func TestTheBytesOfALaunch(t *testing.T) {
	m := New(OpLaunch, Launch{9, Shape{Grid: device.D3(1, 2, 3), Block: device.D3(4, 5, 6), Shared: 7, Cooperative: true, Cluster: device.D3(3, 2, 1)}, []device.Value{{Size: 4, Bits: 8}}})
	m.Readdress(10)
	var numbers []uint64
	for b := m.Body(); len(b) > 0; b = b[8:] {
		numbers = append(numbers, binary.LittleEndian.Uint64(b))
	}
	assert.Equal(t, []uint64{10, 1, 2, 3, 4, 5, 6, 7, 1, 3, 2, 1, 1, 4, 8, 0, 0}, numbers)
}

func TestABodyOfAnotherLengthIsMalformed(t *testing.T) {
	for _, sent := range all() {
		m := New(OK, sent)
		for n := head; n < len(m); n++ {
			assert.ErrorIs(t, m[:n].Decode(room(sent)), ErrMalformed, "%T, %d of %d bytes", sent, n, len(m))
		}
		assert.ErrorIs(t, append(m, 0).Decode(room(sent)), ErrMalformed, "%T and a byte", sent)
	}
	assert.ErrorIs(t, append(New(OK), 1, 2, 3).Decode(Into(make([]byte, 4))), ErrMalformed)
	assert.ErrorIs(t, append(New(OK), 1, 2, 3).Decode(Into(make([]byte, 2))), ErrMalformed)
}

func TestEveryTruncationIsAnErrorButNoEOF(t *testing.T) {
	var wire bytes.Buffer
	require.NoError(t, Send(&wire, New(OpCopyIn, device.Memory{Name: "x"}), []byte("data")))
	for n := 1; n < wire.Len(); n++ {
		_, err := Receive(bytes.NewReader(wire.Bytes()[:n]))
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF, n)
	}
}

// TestLengthsAreNotBelieved: lengths are not trusted, so no number makes a reader allocate more than there is.
func TestLengthsAreNotBelieved(t *testing.T) {
	for _, sent := range all() {
		m := New(OK, sent)
		for at := head; at+8 <= len(m); at++ {
			for _, lie := range []uint64{math.MaxUint64, 1 << 63, 1 << 40, 1 << 31, uint64(len(m))} {
				lying := bytes.Clone(m)
				binary.LittleEndian.PutUint64(lying[at:], lie)
				perRun := testing.AllocsPerRun(1, func() { _ = Message(lying).Decode(room(sent)) })
				assert.Less(t, perRun, 100.0)
			}
		}
	}
}

func TestMessagesAreBounded(t *testing.T) {
	for op, length := range map[Op]uint32{OpCopyIn: maxMessage + 1, OpCompile: MaxRequest + 1, OpSync: math.MaxUint32, OpInfo: 0} {
		_, err := ReceiveRequest(bytes.NewReader(append(binary.LittleEndian.AppendUint32(nil, length), byte(op))))
		assert.ErrorIs(t, err, ErrMalformed, op)
	}
	var wire bytes.Buffer
	assert.ErrorContains(t, Send(&wire, New(OpCopyIn), make([]byte, maxMessage)), "too long")
	assert.Zero(t, wire.Len(), "nothing is sent of a message that is refused")
}

func TestNoiseDoesNoHarm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		m := make(Message, head+r.IntN(300))
		for i := range m {
			m[i] = byte(r.Uint32() >> r.IntN(32)) // small numbers are the likelier ones
		}
		for _, b := range all() {
			_ = m.Decode(room(b)) // an error, never a panic
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, b := range all() {
		f.Add([]byte(New(OK, b)))
	}
	mutate.Corpus(f)
	f.Fuzz(func(_ *testing.T, data []byte) {
		m, err := Receive(bytes.NewReader(data))
		for _, b := range all() {
			if err == nil {
				_ = m.Decode(room(b))
			}
		}
	})
}

func TestErrorsKeepTextAndType(t *testing.T) {
	for _, sent := range []error{
		errors.New("plain"), device.ErrNoClock, fmt.Errorf("alloc x: %w", device.ErrOutOfMemory),
		&device.FaultError{Kernel: "k", Reason: "out of bounds"}, fmt.Errorf("task: %w", &device.FaultError{Kernel: "k"}),
		device.Refuse("k", "no"), &device.CompileError{File: "k.cu", Output: "no"},
	} {
		var got Failure
		require.NoError(t, New(Failed, NewFailure(sent)).Decode(&got))
		back := got.Err()
		assert.Equal(t, sent.Error(), back.Error())
		for _, s := range sentinels[1:] {
			assert.Equal(t, errors.Is(sent, s), errors.Is(back, s), "%v is %v", sent, s)
		}
		assert.Equal(t, errors.As(sent, new(*device.FaultError)), errors.As(back, new(*device.FaultError)))
		assert.Equal(t, errors.As(sent, new(*device.CompileError)), errors.As(back, new(*device.CompileError)))
	}
}

func TestACopyIsCutIntoChunks(t *testing.T) {
	data := make([]byte, Chunk+5)
	var parts []device.Memory
	for m, part := range Parts(device.Memory{Addr: 100, Bytes: int64(len(data)), Name: "x"}, data) {
		assert.Equal(t, m.Bytes, int64(len(part)))
		parts = append(parts, m)
	}
	assert.Equal(t, []device.Memory{{Addr: 100, Bytes: Chunk, Name: "x"}, {Addr: 100 + Chunk, Bytes: 5, Name: "x"}}, parts)
}
