package sim

import (
	"flashlab/device/protocol"
	"flashlab/device/trace"
)

// Prints takes what kernels have printed since the last call, in the order of
// launches and blocks, and whether more was printed than is kept (64 KB).
func (d *Device) Prints() (prints []trace.Print, more bool, err error) {
	err = d.ask(protocol.New(protocol.OpPrints), nil, &more, &prints)
	return prints, more, err
}
