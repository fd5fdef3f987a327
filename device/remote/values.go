package remote

import (
	"errors"
	"fmt"
	"math"

	"flashlab/device"
	"flashlab/device/protocol"
	"flashlab/tensor"
)

// Values are numbers that the server's owner has and its client has not: part of an
// input, or random ones of a seed that the client is not told. The client says where
// on the device they belong, and never sees them.
type Values struct {
	Input  int         // which input; Random for none of them
	Stream uint32      // of the random numbers
	From   int         // the first that is meant
	Scale  float32     // each number is multiplied by this
	Shift  float32     // and this is added
	Type   tensor.Type // what they are on the device, each rounded to it
}

// Random is the Input of Values that are none's.
const Random = -1

// Of is an input's values from one on, as they are.
func Of(input, from int) Values { return Values{Input: input, From: from, Scale: 1} }

// sent is Values as they travel.
type sent struct {
	Input                int
	Stream               uint64
	From                 int
	ScaleBits, ShiftBits uint64
	Type                 string
}

func (v Values) send() sent {
	return sent{v.Input, uint64(v.Stream), v.From, uint64(math.Float32bits(v.Scale)), uint64(math.Float32bits(v.Shift)), string(v.Type)}
}

func (s sent) values() Values {
	return Values{s.Input, uint32(s.Stream), s.From, math.Float32frombits(uint32(s.ScaleBits)), math.Float32frombits(uint32(s.ShiftBits)), tensor.Type(s.Type)}
}

// Give has the server fill m with its values, as much at a time as one message may be about.
func (c *client) Give(m device.Memory, v Values) error {
	if err := c.graphs.Refuse("fill " + m.Name); err != nil {
		return err
	}
	if err := v.Type.Check(); err != nil {
		return fmt.Errorf("fill %s: %w", m.Name, err)
	}
	for from := int64(0); from < m.Bytes; from += protocol.Chunk {
		part, values := m, v
		part.Addr, part.Bytes = m.Addr+uint64(from), min(m.Bytes-from, protocol.Chunk)
		values.From += v.Type.Elements(int(from))
		if err := c.ask(protocol.New(protocol.OpGive, part, values.send()), nil); err != nil {
			return err
		}
	}
	return nil
}

// give is the server's side.
func (c *session) give(request protocol.Message) error {
	var (
		m device.Memory
		s sent
	)
	if err := request.Decode(&m, &s); err != nil {
		return err
	}
	if c.Values == nil {
		return errors.New("this side has no values to give")
	}
	m, err := c.heap.part("fill", m)
	if err != nil {
		return err
	}
	v := s.values()
	if err := v.Type.Check(); err != nil {
		return fmt.Errorf("fill %s: %w", m.Name, err)
	}
	n := v.Type.Elements(int(m.Bytes))
	if m.Bytes > protocol.Chunk || v.Type.Bytes(n) != int(m.Bytes) {
		return errors.New("fill " + m.Name + ": want whole numbers, and no more than one message has")
	}
	values, err := c.Values(m, v, n)
	if err != nil {
		return err
	}
	return c.Device.CopyIn(m, v.Type.Encode(values))
}
