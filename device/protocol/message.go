package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"

	"flashlab/device"
)

// Message is a message as it travels.
type Message []byte

const head = 5 // bytes: the length, and the operation or status

// New makes a message of the parts of its body.
func New[C Op | Status](code C, parts ...any) Message {
	b := make([]byte, head, 256)
	b[head-1] = byte(code)
	for _, p := range parts {
		b = write(b, reflect.ValueOf(p))
	}
	return b
}

// Op is what a request asks for.
func (m Message) Op() Op { return Op(m[head-1]) }

// Status is an answer's.
func (m Message) Status() Status { return Status(m[head-1]) }

// Body is what follows the operation or status.
func (m Message) Body() []byte { return m[head:] }

// ErrMalformed is a message that is longer or shorter than what it should hold.
var ErrMalformed = errors.New("a message that is not one of ours")

// Data is the bytes of a copy, as the last part to be read: what is left of the
// message, not copied again.
type Data []byte

// Into is the same where they are wanted, neither more nor fewer.
type Into []byte

// Decode reads all of the body into what the parts point to.
func (m Message) Decode(parts ...any) error {
	r := reader{rest: m.Body()}
	for _, p := range parts {
		switch p := p.(type) {
		case *Data:
			*p = r.take(uint64(len(r.rest)))
		case Into:
			copy(p, r.take(uint64(len(p))))
		default:
			r.read(reflect.ValueOf(p).Elem())
		}
	}
	if r.broken || len(r.rest) > 0 {
		return ErrMalformed
	}
	return nil
}

// Parts cuts a copy into what one message may carry.
func Parts(m device.Memory, data []byte) iter.Seq2[device.Memory, []byte] {
	return func(yield func(device.Memory, []byte) bool) {
		for from := 0; from < len(data); from += Chunk {
			part := data[from:min(from+Chunk, len(data))]
			if !yield(device.Memory{Addr: m.Addr + uint64(from), Bytes: int64(len(part)), Name: m.Name}, part) {
				return
			}
		}
	}
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
