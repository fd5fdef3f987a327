package main

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
)

// runRecorded calls Forward for the prompt and for one step, then records
// another step, and from there on launches what was recorded.
func runRecorded(r *layerRun) error {
	var step device.Graph
	defer func() {
		if step != nil {
			_ = step.Close()
		}
	}()
	for i, p := range r.passes() {
		work := r.layer.Forward
		if i >= 2 {
			work = func(out, x device.Buffer[float32], s attn.Step) (err error) {
				if step == nil {
					step, err = r.Device.Record(func(device.Queue) error { return r.layer.Forward(out, x, s) })
					if err != nil {
						return fmt.Errorf("cannot be recorded as a graph: %w", err)
					}
				}
				return step.Launch()
			}
		}
		r.queue.during = ""
		if err := r.do(p, work); err != nil {
			return during(fmt.Sprintf("Forward of %v", p), err)
		}
		if i > 0 && r.queue.during != "" {
			return fmt.Errorf("Forward of %v %s: it may only launch, because a decoding step is recorded once and replayed. Allocate in New, with room for MaxRows rows; a part of a buffer is a Slice", p, r.queue.during)
		}
	}
	return nil
}
