package kit

import (
	"fmt"

	"flashlab/device"
)

// Four are weights of four bits [outputs, inputs]: (code − 8) · scale. WeightGroup neighbours of a row share
// a scale.
type Four struct {
	Codes  Bytes  // outputs × inputs / 2
	Scales Halves // outputs × inputs / WeightGroup
}

// WeightGroup is how many weights share a scale.
const WeightGroup = 32

func (f Four) check(what string, weights int) error {
	if weights%WeightGroup != 0 {
		return fmt.Errorf("%s: %d weights: want whole groups of %d", what, weights, WeightGroup)
	}
	return check(what, size{"Codes", f.Codes.Len(), weights / 2}, size{"Scales", f.Scales.Len(), weights / WeightGroup})
}

// Pack rounds weights to four bits.
func (k *Kit) Pack(to Four, w Halves) error {
	if err := to.check("Pack", w.Len()); err != nil {
		return err
	}
	return k.each("pack", to.Scales.Len(), to.Codes, to.Scales, w, to.Scales.Len())
}

// MultiplyFour is Multiply by weights of four bits.
func (k *Kit) MultiplyFour(y, x Floats, w Four, batch int) error {
	inputs, outputs, err := sides("MultiplyFour", y, x, batch)
	if err != nil {
		return err
	}
	if inputs%WeightGroup != 0 {
		return fmt.Errorf("MultiplyFour: a row has %d weights: want whole groups of %d", inputs, WeightGroup)
	}
	if err := w.check("MultiplyFour", inputs*outputs); err != nil {
		return err
	}
	return k.each("multiply_four", y.Len(), y, x, w.Codes, w.Scales, batch, inputs, outputs)
}

// heads is a block for each of so many heads of a sequence.
func heads(n, batch, threads, shared int) device.Launch {
	return device.Launch{Grid: device.D2(n, batch), Block: device.D1(threads), Shared: shared}
}
