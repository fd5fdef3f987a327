package protocol

import (
	"encoding/binary"

	"flashlab/device"
)

// Launch starts a kernel.
type Launch struct {
	Kernel ID // the first field: Start puts another one in its place
	Shape  device.Launch
	Args   []device.Value
}

// Fields makes it a Body.
func (l *Launch) Fields(c *Coder) {
	l.Kernel.Fields(c)
	g, b := &l.Shape.Grid, &l.Shape.Block
	c.Ints(&g.X, &g.Y, &g.Z, &b.X, &b.Y, &b.Z, &l.Shape.Shared)
	List(c, &l.Args, func(c *Coder, v *device.Value) {
		c.Ints(&v.Size)
		c.U64(&v.Bits)
	})
}

// NewLaunch checks a launch where the Go types of its arguments are known, and makes
// the one message of it that goes all the way to the device.
func NewLaunch(kernel ID, sig device.Signature, l device.Launch, info device.Info, args []any) (Message, error) {
	l, err := device.CheckLaunch(sig.Name, l, info)
	if err != nil {
		return nil, err
	}
	values, err := device.Pack(sig, args)
	if err != nil {
		return nil, err
	}
	return New(OpLaunch, &Launch{kernel, l, values}), nil
}

// Starter is a kernel of a device that takes a launch as it travels, once somebody
// has checked that.
type Starter interface {
	Start(launch Message) error
}

// Readdress puts in the number that the receiver has given the kernel.
func (m Message) Readdress(kernel ID) { binary.LittleEndian.PutUint64(m[head:], uint64(kernel)) }
