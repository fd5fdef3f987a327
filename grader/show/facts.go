package show

import (
	"fmt"

	"flashlab/device/trace"
)

// kernelOf is what is said of a kernel as a whole.
func kernelOf(r Run, name string) kernel {
	c := r.countsOf(name)
	k := kernel{Name: name, moved: movedBy(c)}
	if c.Launches == 0 {
		k.Launched = "it was stopped before its end, so nothing of it is counted"
		return k
	}
	threads := c.Block[0] * c.Block[1] * c.Block[2]
	if c.Launches > 1 {
		k.Launched = fmt.Sprintf("%d launches, %s in all; the first: ", c.Launches, plural(int(c.Blocks), "block"))
	}
	k.Launched += fmt.Sprintf("a grid of %s blocks, each of %s threads", dims(c.Grid), dims(c.Block))
	if w := (threads + 31) / 32; w > 1 {
		k.Launched += fmt.Sprintf(" (%d warps)", w)
	}
	k.Facts = factsOf(r, c)
	return k
}

func factsOf(r Run, c trace.Counts) []fact {
	moved, asked := movedBy(c), c.GlobalRead+c.GlobalWritten
	var time []fact
	if t, known := r.Times[c.Kernel]; known {
		time = []fact{{t.Takes, "estimated on an " + t.GPU, t.Why}}
	}
	facts := []fact{{bytesOf(moved), "moved", ""}}
	if r.Least > 0 {
		facts[0].Note = ratio(float64(moved)/float64(r.Least)) + " × the least of the case"
	}
	facts = append(facts, fact{bytesOf(asked), "asked for by threads", ""},
		fact{bytesOf(c.DeviceRead + c.DeviceWritten), "of different bytes", "what goes to device memory if the L2 cache holds all the rest"})
	if c.GlobalRequests > 0 {
		sectors := float64(c.SectorsRead+c.SectorsWritten) / float64(c.GlobalRequests)
		facts = append(facts, fact{ratio(sectors), "sectors a request", "4 are 32 neighbouring floats, 16 the same of float4"})
	}
	if c.SharedRequests > 0 {
		facts = append(facts, fact{ratio(float64(c.SharedPasses) / float64(c.SharedRequests)), "bank passes a request", "of shared memory; 1 means no conflict, 4 is usual for a warp's float4"})
	}
	if c.Blocks > 0 {
		facts = append(facts, fact{ratio(float64(c.Barriers) / float64(c.Blocks)), "barriers a block", ""})
	}
	facts = append(facts, fact{count(c.Steps), "steps of threads", ""})
	if c.Spilled > 0 {
		facts = append(facts, fact{bytesOf(c.Spilled), "of local arrays", "that no registers hold: they go to device memory and back"})
	}
	if c.TensorCore > 0 {
		facts = append(facts, fact{count(c.TensorCore), "tensor-core instructions", "of warps"})
	}
	return append(facts, time...)
}
