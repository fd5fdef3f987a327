package gpt2

import (
	"errors"
	"fmt"

	"flashlab/device"
	"flashlab/nn"
)

// CutWeights keeps the layers' matrices a second time, in halves, as the tensor cores take them (nn.Cut), so that prompts
// need not make these. That takes as much memory as the matrices; where it is not there, all stays as it was.
func (m *Model) CutWeights() error {
	if m.cut != nil {
		return nil
	}
	c, cuts := m.config, map[string]*nn.Cut{}
	for i := range c.Layers {
		for _, matrix := range []struct {
			name             string
			in, width, parts int
		}{{QKVWeight, c.Width, c.Width, 3}, {OutWeight, c.Width, c.Width, 1}, {UpWeight, c.Width, c.Inner, 1}, {DownWeight, c.Inner, c.Width, 1}} {
			name := InLayer(i, matrix.name)
			parts, err := inParts(m.weights[name], matrix.parts)
			if err == nil {
				cuts[name], err = m.nn.Cut(matrix.in, matrix.width, parts...)
			}
			if err == nil {
				continue
			}
			delete(cuts, name)
			if errors.Is(err, device.ErrOutOfMemory) {
				return free(m.queue, cuts)
			}
			return errors.Join(fmt.Errorf("%s in halves: %w", name, err), free(m.queue, cuts))
		}
	}
	m.cut = cuts
	return nil
}

func free(q device.Queue, cuts map[string]*nn.Cut) (failed error) {
	for _, c := range cuts {
		failed = errors.Join(failed, c.Free(q))
	}
	return failed
}

// with is nn for one of a layer's matrices, or their parts.
func (m *Model) with(matrix string) *nn.Layers {
	if c := m.cut[matrix]; c != nil {
		return m.nn.With(c)
	}
	return m.nn
}

// inParts are the equal parts of a buffer.
func inParts(b nn.Floats, n int) (parts []nn.Floats, err error) {
	each := b.Len() / n
	for i := range n {
		part, err := b.Slice(i*each, (i+1)*each)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}
