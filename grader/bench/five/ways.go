// Package five runs one workload of a Llama's shape in five ways: in halves, with the bonus tasks' attention,
// with a cache of 4 bits, with weights of 4 bits, and with all of these. It tells what each brings in time and
// in memory, and what it costs in tokens that come out otherwise.
package five

import (
	"fmt"
	"sync"

	"flashlab/device"
	"flashlab/nn/half/decoder"
)

// Way is how a model is put together.
type Way struct {
	Name string
	Ours bool // the attention of bonus tasks b2 and b6, instead of package half's plain one
	Kivi bool // a cache of 4 bits: bonus task b7's
	Four bool // weights of 4 bits: bonus task b8's
}

// Ways are the five.
var Ways = []Way{
	{Name: "halves"},
	{Name: "our attention", Ours: true},
	{Name: "+ KIVI cache", Ours: true, Kivi: true},
	{Name: "+ W4A16 weights", Ours: true, Four: true},
	{Name: "all", Ours: true, Kivi: true, Four: true},
}

// Workload is what is run.
type Workload struct {
	decoder.Config `json:"-"`
	Shape          string
	Batch          int
	Prompt, Tokens int
	Seed           uint64
}

// Shapes are the models that a name stands for. Llama 3.1's frequencies are scaled; random weights do not
// notice.
var Shapes = map[string]decoder.Config{
	"tiny": shape(decoder.Config{Hidden: 256, Layers: 2, MLP: 384, Vocabulary: 500}, 4, 2, 64, 10000),
	"1b":   shape(decoder.Config{Hidden: 2048, Layers: 16, MLP: 8192, Vocabulary: 128256}, 32, 8, 64, 500000),
	"8b":   shape(decoder.Config{Hidden: 4096, Layers: 32, MLP: 14336, Vocabulary: 128256}, 32, 8, 128, 500000),
}

func shape(c decoder.Config, heads, kvHeads, dim int, base float64) decoder.Config {
	c.Heads.Heads, c.KVHeads, c.Dim = heads, kvHeads, dim
	c.Epsilon, c.Frequencies = 1e-5, decoder.Frequencies(dim, base)
	return c
}

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
