package sim

import "flashlab/device/protocol"

// settings are the body of OpConfigure: the options that the process itself needs.
type settings Options

func (o *settings) Fields(c *protocol.Coder) {
	checks := 0
	for i, on := range []bool{o.Checks.Mem, o.Checks.Race, o.Checks.Init, o.Checks.Sync, o.Checks.Traffic} {
		if on {
			checks |= 1 << i
		}
	}
	timeout := int(o.Timeout.Milliseconds())
	c.Ints(&checks)
	c.U64(&o.MaxSteps)
	c.Ints(&timeout)
	protocol.Number(c, &o.Memory)
	c.Ints(&o.Workers)
	protocol.Optional(c, &o.Show.Thread, index)
	protocol.Optional(c, &o.Show.Block, index)
}

// loading is the body of OpLoad.
type loading struct {
	path      string
	constants []string
}

func (l *loading) Fields(c *protocol.Coder) {
	c.Text(&l.path)
	protocol.List(c, &l.constants, (*protocol.Coder).Text)
}
