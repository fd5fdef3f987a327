package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Message is a message as it travels.
type Message []byte

const head = 5 // bytes: the length, and the operation or status

// New makes a message.
func New[C Op | Status](code C, bodies ...Body) Message {
	c := Coder{bytes: make([]byte, head, 256)}
	c.bytes[head-1] = byte(code)
	for _, b := range bodies {
		b.Fields(&c)
	}
	return c.bytes
}

// Op is what a request asks for.
func (m Message) Op() Op { return Op(m[head-1]) }

// Status is an answer's.
func (m Message) Status() Status { return Status(m[head-1]) }

// Body is what follows the operation or status.
func (m Message) Body() []byte { return m[head:] }

// ErrMalformed is a message that is longer or shorter than what it should hold.
var ErrMalformed = errors.New("a message that is not one of ours")

// Decode reads all of the body.
func (m Message) Decode(bodies ...Body) error {
	c := Coder{bytes: m.Body(), reading: true}
	for _, b := range bodies {
		b.Fields(&c)
	}
	if c.broken || len(c.bytes) > 0 {
		return ErrMalformed
	}
	return nil
}

// Send writes a message, the bytes of a copy behind it: those need not be in one
// piece with it.
func Send(w io.Writer, m Message, data []byte) error {
	length := len(m) - 4 + len(data)
	if length > maxMessage {
		return fmt.Errorf("a message of %d bytes is too long", length)
	}
	binary.LittleEndian.PutUint32(m, uint32(length))
	if _, err := w.Write(m); err != nil || len(data) == 0 {
		return err
	}
	_, err := w.Write(data)
	return err
}

// Receive reads an answer.
func Receive(r io.Reader) (Message, error) { return receive(r, false) }

// ReceiveRequest reads a request. The error is io.EOF only if the other side closed
// between two of them.
func ReceiveRequest(r io.Reader) (Message, error) { return receive(r, true) }

func receive(r io.Reader, request bool) (Message, error) {
	var lead [head]byte
	if _, err := io.ReadFull(r, lead[:]); err != nil {
		return nil, err // in the midst of it: io.ErrUnexpectedEOF
	}
	length, most := binary.LittleEndian.Uint32(lead[:]), uint32(maxMessage)
	if request && Message(lead[:]).Op() != OpCopyIn {
		most = MaxRequest
	}
	if length < 1 || length > most {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrMalformed, length)
	}
	m := make(Message, 4+int(length))
	copy(m, lead[:])
	if _, err := io.ReadFull(r, m.Body()); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("a message breaks off: %w", err)
	}
	return m, nil
}
