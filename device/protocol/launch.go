package protocol

import (
	"encoding/binary"

	"flashlab/device"
)

// Launch starts a kernel.
type Launch struct {
	Kernel uint64 // the first field: Readdress puts another one in its place
	Shape  Shape
	Args   []device.Value
}

// Shape is a device.Launch but for Early, which is for graphs that a driver records:
// at the other end there is none, for graphs are replayed at this one.
type Shape struct {
	Grid, Block device.Dim
	Shared      int
	Cooperative bool
	Cluster     device.Dim
}

// ShapeOf is what of a launch travels.
func ShapeOf(l device.Launch) Shape {
	return Shape{l.Grid, l.Block, l.Shared, l.Cooperative, l.Cluster}
}

// Launch is the launch of that shape.
func (s Shape) Launch() device.Launch {
	return device.Launch{Grid: s.Grid, Block: s.Block, Shared: s.Shared, Cooperative: s.Cooperative, Cluster: s.Cluster}
}

// NewLaunch checks a launch where the Go types of its arguments are known, and makes
// the one message of it that goes all the way to the device.
func NewLaunch(kernel uint64, sig device.Signature, l device.Launch, info device.Info, args []any) (Message, error) {
	l, err := device.CheckLaunch(sig.Name, l, info)
	if err != nil {
		return nil, err
	}
	values, err := device.LayOut(sig, args)
	if err != nil {
		return nil, err
	}
	return New(OpLaunch, Launch{kernel, ShapeOf(l), values}), nil
}

// Readdress puts in the number that the receiver has given the kernel.
func (m Message) Readdress(kernel uint64) { binary.LittleEndian.PutUint64(m[head:], kernel) }

// Starter is a kernel of a device that takes a launch as it travels, once somebody
// has checked that.
type Starter interface {
	Start(launch Message) error
}
