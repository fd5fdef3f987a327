package nn

import (
	"errors"
	"fmt"

	"flashlab/device"
)

// Cut are the weights of up to three layers of one input in halves, as the tensor cores take them (pieces.cu). Layers
// with many rows make these at each call, unless they are given them (With). They need as much memory as the weights, and
// are of what the weights were: who writes to these cuts them again.
type Cut struct {
	of           [mostParts]Floats // the weights
	halves, back Floats
	parts        int
	in, width    int
	padded       int // lines of a layer's halves: zeros fill up the last tile
}

// Cut makes the halves of each w [width, in].
func (l *Layers) Cut(in, width int, w ...Floats) (*Cut, error) {
	what := func() string { return fmt.Sprintf("halves of w [%d, %d]", width, in) }
	if len(w) < 1 || len(w) > mostParts {
		return nil, fmt.Errorf("%s: %d of them together, want 1 to %d", what(), len(w), mostParts)
	}
	for _, one := range w {
		if err := check(what, []int{in, width}, of("w", one, width*in)); err != nil {
			return nil, err
		}
	}
	c := &Cut{of: [mostParts]Floats{w[0], w[0], w[0]}, parts: len(w), in: in, width: width, padded: tiles(width, largeTile) * largeTile}
	copy(c.of[:], w)
	var err error
	if c.halves, err = device.Alloc[float32](l.queue, "weights in halves", c.lines()*c.whole()); err != nil {
		return nil, err
	}
	if c.back, err = device.Alloc[float32](l.queue, "their scales", c.lines()); err == nil {
		err = l.split(job{in: in, width: width, w: c.of, x: w[0]}, 0, c)
	}
	if err != nil {
		return nil, errors.Join(err, c.Free(l.queue))
	}
	return c, nil
}

func (c *Cut) lines() int { return c.parts * c.padded }
func (c *Cut) whole() int { return tiles(c.in, slab) * slab }

// Free gives the memory back.
func (c *Cut) Free(q device.Queue) error {
	err := c.halves.Free(q)
	if c.back.Len() > 0 {
		err = errors.Join(err, c.back.Free(q))
	}
	return err
}

// With is the same layers for weights that have been cut.
func (l *Layers) With(c *Cut) *Layers {
	with := *l
	with.cut = c
	return &with
}

// fits tells what is wrong with halves that a layer was given.
func (c *Cut) fits(j job) error {
	if c.parts != j.parts || c.in != j.in || c.width != j.width || c.of != j.w {
		return fmt.Errorf("linear layer of x [%d, %d] with w [%d, %d]: the halves that are there are of other weights", j.rows, j.in, j.width, j.in)
	}
	return nil
}
