// Package frame is how grader and worker talk to each other: a JSON header for the
// message, and raw bytes for tensors. Both are bounded before anything is allocated,
// because the other side may be a stranger's code.
package frame

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Bounds on one message.
const (
	MaxHeader  = 4 << 20   // bytes of JSON
	MaxPayload = 128 << 20 // raw bytes: tensors up to 64 MB each
)

// Write sends a header and a payload, which may be empty.
func Write(w io.Writer, header any, payload []byte) error {
	head, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("frame: %w", err)
	}
	if len(head) > MaxHeader || len(payload) > MaxPayload {
		return fmt.Errorf("frame: %d + %d bytes are more than a message may hold", len(head), len(payload))
	}
	lengths := binary.LittleEndian.AppendUint32(nil, uint32(len(head)))
	lengths = binary.LittleEndian.AppendUint32(lengths, uint32(len(payload)))
	if _, err := w.Write(append(lengths, head...)); err != nil {
		return err
	}
	if len(payload) == 0 {
		return nil
	}
	_, err = w.Write(payload)
	return err
}

// Read receives a message: it decodes the header and returns the payload. The
// error is io.EOF only if the other side closed between two messages.
func Read(r io.Reader, header any) ([]byte, error) {
	var lengths [8]byte
	if _, err := io.ReadFull(r, lengths[:]); err != nil {
		return nil, err
	}
	headLen := binary.LittleEndian.Uint32(lengths[:4])
	payloadLen := binary.LittleEndian.Uint32(lengths[4:])
	if headLen > MaxHeader || payloadLen > MaxPayload {
		return nil, fmt.Errorf("frame: a message of %d + %d bytes is not one of ours", headLen, payloadLen)
	}
	head := make([]byte, headLen)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, fmt.Errorf("frame: cut off in the header: %w", unexpected(err))
	}
	if err := json.Unmarshal(head, header); err != nil {
		return nil, fmt.Errorf("frame: %w", err)
	}
	payload := make([]byte, payloadLen)
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, fmt.Errorf("frame: cut off in the payload: %w", unexpected(err))
	}
	return payload, nil
}

// unexpected turns the EOF of a reader that had nothing left at all into one
// that nobody takes for a proper end: io.EOF is kept for the gap between two
// messages.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
