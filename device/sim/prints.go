package sim

import (
	"fmt"

	"flashlab/device/protocol"
)

// Print is one printf of a kernel's thread.
type Print struct {
	Kernel        string
	Block, Thread [3]int
	Text          string
}

// Show picks the threads whose printf is kept; nil is any.
type Show struct{ Block, Thread *[3]int }

// Prints takes what kernels have printed since the last call, in the order of
// launches and blocks. Whether more was printed than is kept (64 KB) is the
// second result.
func (d *Device) Prints() ([]Print, bool, error) {
	var p printed
	if err := d.ask(protocol.New(protocol.OpPrints), nil, &p); err != nil {
		return nil, false, fmt.Errorf("what kernels printed: %w", err)
	}
	return p.prints, p.more, nil
}

// printed is the answer to OpPrints.
type printed struct {
	more   bool
	prints []Print
}

func (p *printed) Fields(c *protocol.Coder) {
	c.Bool(&p.more)
	protocol.List(c, &p.prints, func(c *protocol.Coder, p *Print) {
		index(c, &p.Block)
		index(c, &p.Thread)
		c.Texts(&p.Kernel, &p.Text)
	})
}

func index(c *protocol.Coder, v *[3]int) { c.Ints(&v[0], &v[1], &v[2]) }
