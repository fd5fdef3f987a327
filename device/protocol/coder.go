package protocol

import "encoding/binary"

// Coder goes through the fields of a body in their order, and either writes or
// reads them: one description serves both ends.
type Coder struct {
	bytes   []byte // written so far, or still to be read
	reading bool
	broken  bool // a message that breaks off: from there on, all is zero
}

// Body is a part of a message.
type Body interface{ Fields(c *Coder) }

// take is the next n bytes of what is read, or nil.
func (c *Coder) take(n uint64) []byte {
	if n > uint64(len(c.bytes)) {
		c.bytes, c.broken = nil, true
		return nil
	}
	taken := c.bytes[:n]
	c.bytes = c.bytes[n:]
	return taken
}

// U64 is a number.
func (c *Coder) U64(v *uint64) {
	if !c.reading {
		c.bytes = binary.LittleEndian.AppendUint64(c.bytes, *v)
		return
	}
	*v = 0
	if b := c.take(8); b != nil {
		*v = binary.LittleEndian.Uint64(b)
	}
}

// Number is a number of any type; whoever reads it checks its range.
func Number[N ~int | ~int64 | ~byte](c *Coder, v *N) {
	bits := uint64(*v)
	c.U64(&bits)
	*v = N(bits)
}

// Ints are several numbers.
func (c *Coder) Ints(vs ...*int) {
	for _, v := range vs {
		Number(c, v)
	}
}

// Bool is a number, 0 or not.
func (c *Coder) Bool(v *bool) {
	bit := 0
	if *v {
		bit = 1
	}
	Number(c, &bit)
	*v = bit != 0
}

// Text is a text.
func (c *Coder) Text(s *string) {
	n := uint64(len(*s))
	c.U64(&n)
	if c.reading {
		*s = string(c.take(n))
		return
	}
	c.bytes = append(c.bytes, *s...)
}

// Texts are several.
func (c *Coder) Texts(ss ...*string) {
	for _, s := range ss {
		c.Text(s)
	}
}

// List is a list, each item of which has one number at least.
func List[T any](c *Coder, list *[]T, fields func(c *Coder, item *T)) {
	n := uint64(len(*list))
	c.U64(&n)
	if !c.reading {
		for i := range *list {
			fields(c, &(*list)[i])
		}
		return
	}
	*list = nil
	if n > uint64(len(c.bytes))/8 {
		c.broken = true
	}
	for i := uint64(0); i < n && !c.broken; i++ { // grows with what is there, not by the count
		var item T
		fields(c, &item)
		*list = append(*list, item)
	}
}

// Optional is something that may be absent.
func Optional[T any](c *Coder, p **T, fields func(c *Coder, v *T)) {
	there := *p != nil
	c.Bool(&there)
	if !there {
		return
	}
	if c.reading {
		*p = new(T)
	}
	fields(c, *p)
}

// Data is the bytes of a copy: what is left of the message, not copied again.
type Data []byte

// Fields makes it a Body.
func (d *Data) Fields(c *Coder) {
	if c.reading {
		*d = c.take(uint64(len(c.bytes)))
		return
	}
	c.bytes = append(c.bytes, *d...)
}

// Into is the bytes of a copy where they are wanted, neither more nor fewer.
type Into []byte

// Fields makes it a Body.
func (d Into) Fields(c *Coder) { copy(d, c.take(uint64(len(d)))) }
