// Package pace measures how fast a Llama-like model answers: what `make e2e` runs.
// A worker brings the attention; the rest is here.
package pace

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/device/open"
	"flashlab/device/sim"
	"flashlab/grader/tasks/task6/asked"
	"flashlab/nn"
	"flashlab/nn/llama"
)

// Parts are what a model's attention is made of.
type Parts struct {
	Layers  *nn.Layers
	Layer   attn.NewLayer
	Kernels attn.Kernels
	About   string // "the kernels of tasks 4 and 5 and the layer of task 6"
}

// choices are the flags.
type choices struct {
	device, size string
	tokens       int
	json         bool
}

// Main reads the flags, makes the parts and a model, and measures.
func Main(w io.Writer, args []string, parts func(q device.Queue) (Parts, error)) error {
	var c choices
	f := flag.NewFlagSet("e2e", flag.ContinueOnError)
	f.StringVar(&c.device, "device", "auto", "auto, sim or cuda")
	f.StringVar(&c.size, "size", "", asked.Flags.Of("size"))
	f.IntVar(&c.tokens, "tokens", 0, asked.Flags.Of("tokens"))
	f.BoolVar(&c.json, "json", false, "end with a line of all times and tokens, for a program")
	if err := f.Parse(args); err != nil {
		return err
	}
	if _, ok := llama.Sizes[c.size]; !ok && c.size != "" {
		return fmt.Errorf("SIZE=%s: there are %s", c.size, names())
	}
	d, err := c.open()
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	p, err := parts(device.QueueOf(d))
	if err != nil {
		return advice(err)
	}
	m, size, err := c.model(d, p)
	if err != nil {
		return advice(err)
	}
	defer func() { _ = m.Close() }()
	fmt.Fprintf(w, "The model %q: %v\non %s, with %s\n%s\n\n", size, m.Config, d.Info().Name, p.About, d.memory(m.Config))
	if d.simulator != nil {
		if size != "tiny" {
			fmt.Fprintf(w, "The simulator needs minutes to hours for this size; SIZE=tiny takes seconds.\n\n")
		}
		return advice(traffic(w, m, d.simulator, c.tokens, c.json))
	}
	return advice(times(w, m, d, c.tokens, c.json))
}

func names() string {
	var all []string
	for name := range llama.Sizes {
		all = append(all, name)
	}
	slices.SortFunc(all, func(a, b string) int { return int((llama.Sizes[a].Total() - llama.Sizes[b].Total()) >> 20) })
	return strings.Join(all, ", ")
}

// advice tells what to do without a student's kernels.
func advice(err error) error {
	if errors.Is(err, attn.ErrNotImplemented) {
		return fmt.Errorf("%w\nKERNELS=given measures your layer on the course's kernels", err)
	}
	return err
}

// metered is a device that knows how much memory is taken.
type metered struct {
	device.Device
	simulator *sim.Device // nil on a GPU
	held      int64
}

// open takes the simulator with its counts of traffic, and no other checks.
func (c *choices) open() (*metered, error) {
	d, err := open.Device(c.device, open.Options{Sim: sim.Options{Checks: sim.Checks{Traffic: true}}})
	if err != nil {
		return nil, err
	}
	m := &metered{Device: d}
	m.simulator, _ = d.(*sim.Device)
	if c.tokens == 0 {
		c.tokens = 100
		if m.simulator != nil {
			c.tokens = 16
		}
	}
	return m, nil
}

// model makes the model that was asked for, or the largest that fits.
func (c choices) model(d *metered, p Parts) (*llama.Model, string, error) {
	size, chosen := c.size, c.size == ""
	if chosen && d.simulator != nil {
		size = "tiny"
	}
	free := d.Info().MemoryBytes * 9 / 10 // the driver takes a part
	for {
		if chosen && d.simulator == nil {
			var err error
			if size, err = llama.Fitting(free); err != nil {
				return nil, "", err
			}
		}
		config := llama.Sizes[size]
		if room := config.MaxSeq - config.Prompt; c.tokens < 1 || c.tokens > room {
			return nil, "", fmt.Errorf("TOKENS=%d: want 1 to %d", c.tokens, room)
		}
		m, err := llama.New(d, p.Layers, config, 1, p.Layer, p.Kernels)
		if chosen && d.simulator == nil && errors.Is(err, device.ErrOutOfMemory) {
			free = config.Total() - 1 // others use this GPU, too: one size less
			continue
		}
		return m, size, err
	}
}

func (d *metered) Malloc(name string, bytes int64) (device.Memory, error) {
	m, err := d.Device.Malloc(name, bytes)
	if err == nil {
		d.held += m.Bytes
	}
	return m, err
}

func (d *metered) Free(m device.Memory) error {
	err := d.Device.Free(m)
	if err == nil {
		d.held -= m.Bytes
	}
	return err
}

func (d *metered) memory(c llama.Config) string {
	weights, cache, _ := c.Bytes()
	return fmt.Sprintf("%s of device memory: weights %s, cache %s, the rest is room for activations",
		amount(d.held), amount(weights), amount(cache))
}

func amount[N int64 | uint64](n N) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f KB", float64(n)/1e3)
}
