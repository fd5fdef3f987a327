package protocol

import (
	"iter"
	"maps"
	"slices"

	"flashlab/device"
)

// ID is the number of a module or a kernel, or an address.
type ID uint64

// Fields makes it a Body.
func (n *ID) Fields(c *Coder) { c.U64((*uint64)(n)) }

// Text is a text by itself.
type Text string

// Fields makes it a Body.
func (t *Text) Fields(c *Coder) { c.Text((*string)(t)) }

// Memory is a block of device memory, or a part of one.
type Memory device.Memory

// Fields makes it a Body.
func (m *Memory) Fields(c *Coder) {
	c.U64(&m.Addr)
	Number(c, &m.Bytes)
	c.Text(&m.Name)
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

// Fill writes the same byte everywhere.
type Fill struct {
	Memory
	Value byte
}

// Fields makes it a Body.
func (f *Fill) Fields(c *Coder) {
	f.Memory.Fields(c)
	Number(c, &f.Value)
}

// Named is a kernel that is looked up in a module.
type Named struct {
	Module ID
	Name   string
}

// Fields makes it a Body.
func (n *Named) Fields(c *Coder) {
	n.Module.Fields(c)
	c.Text(&n.Name)
}

// Attributes are device.Attributes.
type Attributes device.Attributes

// Fields makes it a Body.
func (a *Attributes) Fields(c *Coder) {
	c.Ints(&a.Registers, &a.SharedBytes, &a.LocalBytes, &a.MaxThreads)
}

// Info is device.Info.
type Info device.Info

// Fields makes it a Body.
func (i *Info) Fields(c *Coder) {
	c.Texts((*string)(&i.Kind), &i.Name, &i.Arch, &i.DriverVersion, &i.ToolkitVersion)
	c.Ints(&i.Processors, &i.WarpSize, &i.MaxThreads, &i.MaxShared)
	Number(c, &i.MemoryBytes)
}

// Signature is device.Signature.
type Signature device.Signature

// Fields makes it a Body.
func (s *Signature) Fields(c *Coder) {
	c.Text(&s.Name)
	c.Ints(&s.Line)
	List(c, &s.Params, func(c *Coder, p *device.Param) {
		c.Texts(&p.Name, &p.Type, &p.Elem)
		c.Ints((*int)(&p.Kind), &p.Size)
		c.Bool(&p.Unsigned)
	})
}

// Source is device.Source.
type Source device.Source

// Fields makes it a Body.
func (s *Source) Fields(c *Coder) {
	c.Texts(&s.Name, &s.Text)
	names := slices.Sorted(maps.Keys(s.Defines))
	List(c, &names, (*Coder).Text)
	if c.reading && len(names) > 0 {
		s.Defines = map[string]string{}
	}
	for _, name := range names {
		value := s.Defines[name]
		c.Text(&value)
		s.Defines[name] = value
	}
}
