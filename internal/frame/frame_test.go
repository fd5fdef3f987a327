package frame

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/mutate"
)

type header struct {
	Op    string
	Shape []int
}

func TestMessagesArriveWholeAndInOrder(t *testing.T) {
	var wire bytes.Buffer
	require.NoError(t, Write(&wire, header{"case", []int{2, 3}}, []byte("payload")))
	require.NoError(t, Write(&wire, header{Op: "bye"}, nil))

	var h header
	payload, err := Read(&wire, &h)
	require.NoError(t, err)
	assert.Equal(t, header{"case", []int{2, 3}}, h)
	assert.Equal(t, "payload", string(payload))

	h = header{}
	payload, err = Read(&wire, &h)
	require.NoError(t, err)
	assert.Equal(t, "bye", h.Op)
	assert.Empty(t, payload)

	_, err = Read(&wire, &h)
	assert.Equal(t, io.EOF, err, "the end between two messages is a proper one")
}

func TestEveryTruncationIsAnErrorButNoEOF(t *testing.T) {
	var wire bytes.Buffer
	require.NoError(t, Write(&wire, header{Op: "x"}, []byte("abc")))
	whole := wire.Bytes()
	for n := 1; n < len(whole); n++ {
		_, err := Read(bytes.NewReader(whole[:n]), &header{})
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d bytes", n)
		assert.NotErrorIs(t, err, io.EOF, "%d bytes", n)
	}
}

func TestReadRefusesLengthsBeyondTheBounds(t *testing.T) {
	for _, lengths := range [][2]uint32{{MaxHeader + 1, 0}, {2, MaxPayload + 1}, {0xffffffff, 0xffffffff}} {
		wire := binary.LittleEndian.AppendUint32(nil, lengths[0])
		wire = binary.LittleEndian.AppendUint32(wire, lengths[1])
		_, err := Read(bytes.NewReader(append(wire, "{}"...)), &header{})
		assert.ErrorContains(t, err, "not one of ours")
	}
}

func TestReadRefusesWhatIsNoHeader(t *testing.T) {
	for _, text := range []string{"", "nonsense", `{"Op":3}`, `{} {}`} {
		wire := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
		wire = binary.LittleEndian.AppendUint32(wire, 0)
		_, err := Read(bytes.NewReader(append(wire, text...)), &header{})
		assert.ErrorContains(t, err, "frame: ", text)
	}
}

func TestWriteKeepsToTheBounds(t *testing.T) {
	var wire bytes.Buffer
	assert.ErrorContains(t, Write(&wire, strings.Repeat("x", MaxHeader), nil), "more than a message may hold")
	assert.ErrorContains(t, Write(&wire, header{}, make([]byte, MaxPayload+1)), "more than a message may hold")
	assert.ErrorContains(t, Write(&wire, func() {}, nil), "frame: ")
	assert.Zero(t, wire.Len(), "nothing is sent of a message that is refused")
}

func TestWriteReturnsTheWritersError(t *testing.T) {
	closed := errors.New("closed")
	for writes := range 2 {
		w := &failing{after: writes, err: closed}
		assert.ErrorIs(t, Write(w, header{}, []byte("x")), closed)
	}
}

type failing struct {
	after int
	err   error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.after == 0 {
		return 0, f.err
	}
	f.after--
	return len(p), nil
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00\x01\x00\x00\x00{}x"))
	mutate.Corpus(f)
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = Read(bytes.NewReader(data), &header{}) // an error, never a panic
	})
}
