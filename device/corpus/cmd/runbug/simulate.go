package main

import (
	"encoding/json"
	"io"

	"flashlab/device/corpus"
	"flashlab/device/sim"
	"flashlab/device/trace"
)

// outcome is what -json writes.
type outcome struct {
	Kernel   string
	Stopped  string          `json:",omitempty"` // why the kernel did not come to its end
	Findings []trace.Finding // as device/trace has them
}

// simulate runs a bug or its twin in the simulator with every check on.
func simulate(name string, to io.Writer) error {
	bug, twin, err := find(name)
	if err != nil {
		return err
	}
	d, err := sim.Start(corpus.SimOptions())
	if err != nil {
		return err
	}
	defer d.Close()
	found, stopped, err := corpus.Simulate(d, corpus.NewRunner(d), bug, twin)
	if err != nil {
		return err
	}
	o := outcome{Kernel: name, Findings: append([]trace.Finding{}, found...)}
	if stopped != nil {
		o.Stopped = stopped.Error()
	}
	out := json.NewEncoder(to)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(o)
}
