// Package ways runs one workload of a Llama's shape in several ways: in halves, with the bonus tasks' attention,
// with a cache of 4 bits, with weights of 4 bits, and with all of these. It tells what each brings in time and
// in memory, and what it costs in tokens that come out otherwise.
package ways

import (
	"fmt"
	"sync"

	"flashlab/device"
	"flashlab/nn/half/decoder"
	"flashlab/nn/llama3"
)

// Way is how a model is put together.
type Way struct {
	Name string
	Ours bool // bonus task b6's attention for decoding, instead of package half's plain one
	Kivi bool // a cache of 4 bits: bonus task b7's
	Four bool // weights of 4 bits: bonus task b8's
	One  bool // a decoding step as one kernel: for one sequence, on a GPU from Hopper on
}

// Ways are those that every device can run.
var Ways = []Way{
	{Name: "halves"},
	{Name: "our attention", Ours: true},
	{Name: "+ KIVI cache", Ours: true, Kivi: true},
	{Name: "+ W4A16 weights", Ours: true, Four: true},
	{Name: "all", Ours: true, Kivi: true, Four: true},
}

// OneKernels are two more, where CanBe allows them.
var OneKernels = []Way{
	{Name: "one kernel", Ours: true, One: true},
	{Name: "one kernel, W4A16", Ours: true, Four: true, One: true},
}

// CanBe tells why a way cannot be run, if it is known before.
func (w Workload) CanBe(way Way, info device.Info) error {
	if !way.One {
		return nil
	}
	bits := 16
	if way.Four {
		bits = 4
	}
	return decoder.CanPersist(w.Config, w.Room(), bits, info)
}

// leastLayer is how many bytes a layer's matrices must have in halves, so that one kernel is worth it. Blocks wait for each
// other at every matrix, which weights on their way hide, if there are enough of them. README.md has what was measured: the
// two meet between 31 and 55 MB. With four bits one kernel was the faster one of every size.
const leastLayer = 45e6

// Worth tells why a way that can be run would only be slower, where that was measured.
func (w Workload) Worth(way Way, info device.Info) error {
	bytes := 2 * float64(w.Hidden*(w.All()+w.Width()+3*w.MLP))
	if !way.One || way.Four || info.Kind != device.CUDA || bytes >= leastLayer {
		return nil
	}
	return fmt.Errorf("the graph is faster: a layer's matrices have %.1f MB, want %.0f at least; on an H200 a layer of 7.1 MB took 31 µs, and 16 in a graph, one of 31 MB 27.2 and 26.2", bytes/1e6, leastLayer/1e6)
}

// Workload is what is run.
type Workload struct {
	decoder.Config `json:"-"`
	Llama          llama3.Config  `json:"-"`
	Weights        llama3.Weights `json:"-"` // nil: random ones, made on the device
	Text           *Text          `json:"-"` // nil: random tokens
	Shape          string         // a name, or a folder
	Batch          int
	Prompt, Tokens int
	Seed           uint64
}

// Tiny is a shape for the simulator; llama3.Sizes has those that were published.
var Tiny = llama3.Config{Width: 128, Heads: 4, KVHeads: 2, Dim: 64, Layers: 2, Inner: 256, Positions: 4096, Vocabulary: 300,
	Epsilon: 1e-5, Rotary: 500000, Scaling: &llama3.Scaling{Factor: 8, Low: 1, High: 4, Original: 1024}, Begin: -1}

// group is how many tokens a cache of 4 bits quantises together: slots are whole groups.
const group = 32

// Room is what the workload needs, and a few sequences' prompts at a time.
func (w Workload) Room() decoder.Room {
	slots := (w.Prompt + w.Tokens + group - 1) / group * group
	return decoder.Room{Batch: w.Batch, Slots: slots, Rows: max(w.Batch, w.Prompt*max(1, min(w.Batch, atOnce/w.Prompt)))}
}

// atOnce is how many tokens of prompts pass at a time, if a prompt is not longer: enough for tensor cores, and not
// so many that activations count.
const atOnce = 2048

// Check tells what is wrong with a workload.
func (w Workload) Check() error {
	if min(w.Batch, w.Prompt, w.Tokens) < 1 || w.Batch > 64 {
		return fmt.Errorf("%d sequences, prompts of %d tokens and %d new ones: want at least 1 of each, and at most 64 sequences", w.Batch, w.Prompt, w.Tokens)
	}
	if longest := w.Llama.Positions; w.Prompt+w.Tokens > longest {
		return fmt.Errorf("prompts of %d tokens and %d new ones: the model has %d positions", w.Prompt, w.Tokens, longest)
	}
	return w.Config.Check()
}

// Bytes estimates what a model in halves takes on the device.
func (w Workload) Bytes() int64 {
	c, r := w.Config, w.Room()
	weights := int64(c.Layers)*int64(c.Hidden)*int64(c.All()+c.Width()+3*c.MLP) + 2*int64(c.Vocabulary)*int64(c.Hidden)
	cache := 2 * int64(c.Layers) * int64(r.Batch) * int64(r.Slots) * int64(c.Slot())
	rows := int64(r.Rows) * int64(3*c.Hidden+c.All()+3*c.Width()+3*c.MLP)
	return 2 * (weights + cache + rows)
}

// counting counts what is allocated.
type counting struct {
	device.Device
	mu        sync.Mutex
	now, peak int64
}

func (c *counting) count(more int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += more
	c.peak = max(c.peak, c.now)
}

func (c *counting) Malloc(name string, bytes int64) (device.Memory, error) {
	m, err := c.Device.Malloc(name, bytes)
	if err == nil {
		c.count(bytes)
	}
	return m, err
}

func (c *counting) Free(m device.Memory) error {
	err := c.Device.Free(m)
	if err == nil {
		c.count(-m.Bytes)
	}
	return err
}
