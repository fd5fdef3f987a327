package sim

import "flashlab/device/protocol"

// Print is one printf of a kernel's thread.
type Print struct {
	Kernel        string
	Block, Thread [3]int
	Text          string
}

// Show picks the threads whose printf is kept; nil is any.
type Show struct{ Block, Thread *[3]int }

// Prints takes what kernels have printed since the last call, in the order of
// launches and blocks, and whether more was printed than is kept (64 KB).
func (d *Device) Prints() (prints []Print, more bool, err error) {
	err = d.ask(protocol.New(protocol.OpPrints), nil, &more, &prints)
	return prints, more, err
}
