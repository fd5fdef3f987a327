//go:build cuda

package cuda

import (
	"gorgonia.org/cu"

	"flashlab/device"
)

// Together launches graphs at the same time, each on a stream of its own, and waits for all. A queue keeps
// what it is given in order, so no other call shows whether launches that overlap leave each other alone.
func (g *gpu) Together(graphs ...device.Graph) error {
	return g.now("launch graphs together", func() error {
		if err := cu.Synchronize(); err != nil { // these streams wait for no other
			return g.failed("cuCtxSynchronize()", err)
		}
		for _, one := range graphs {
			ours, ok := one.(*graph)
			if !ok || ours.gpu != g {
				return device.Refuse("a graph", "it was not recorded by this device: got a %T", one)
			}
			stream, err := cu.MakeStream(cu.NonBlocking)
			if err != nil {
				return g.failed("cuStreamCreate(NON_BLOCKING)", err)
			}
			defer func() { _ = stream.Destroy() }()
			if err := ours.launch(rawStream(stream)); err != nil {
				return err
			}
		}
		if err := cu.Synchronize(); err != nil {
			return g.failed("cuCtxSynchronize()", err)
		}
		g.finished()
		return nil
	})
}
