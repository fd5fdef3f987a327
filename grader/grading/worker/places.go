package worker

import "flashlab/device"

// Places are a case's tensors on the device, in the case's order, whatever their elements are;
// the case knows that.
type Places []device.Memory

// Buffers are the same where all of them are float32.
type Buffers []device.Buffer[float32]

// view is places as a function wants them.
func view[B Places | Buffers](all Places) (b B) {
	switch to := any(&b).(type) {
	case *Places:
		*to = all
	case *Buffers:
		*to = all.floats()
	}
	return b
}

func (p Places) floats() (all Buffers) {
	for _, m := range p {
		b, _ := device.BufferOf[float32](m) // whole numbers by its making
		all = append(all, b)
	}
	return all
}
