package worker

import (
	_ "embed"
	"fmt"

	"flashlab/device"
	"flashlab/grader/grading/wire"
	"flashlab/nn"
)

//go:embed known.cu
var knownText string

// known are the timing's own kernels.
type known struct {
	d                         device.Device
	fill                      *nn.Layers
	countBad, adding, softmax device.Kernel
	reading                   device.Kernel
	count                     device.Buffer[uint32]
	made                      bool
}

func newKnown(d device.Device) (*known, error) {
	k := &known{d: d}
	var err error
	if k.fill, err = nn.NewFill(d); err != nil {
		return nil, fmt.Errorf("the timing's own kernels: %w", err)
	}
	m, err := d.Compile(device.Source{Name: "known.cu", Text: knownText})
	if err != nil {
		return nil, fmt.Errorf("the timing's own kernels: %w", err)
	}
	for name, to := range map[string]*device.Kernel{
		"count_bad": &k.countBad, "multiply_add": &k.adding, "softmax_rows": &k.softmax, "read_through": &k.reading,
	} {
		if *to, err = m.Kernel(name); err != nil {
			return nil, err
		}
	}
	k.count, err = device.Alloc[uint32](d, "count of bad values", 1)
	k.made = err == nil
	return k, err
}

func (k *known) close() {
	if k.made {
		_ = k.count.Free(k.d)
	}
}

// bad counts the elements that are NaN or infinite.
func (k *known) bad(out Buffers) (uint32, error) {
	if err := k.d.Set(k.count.Memory(), 0); err != nil {
		return 0, err
	}
	for _, b := range out {
		blocks := min((b.Len()+255)/256, 16*k.d.Info().Processors)
		if err := k.d.Launch(k.countBad, device.Launch{Grid: device.D1(blocks), Block: device.D1(256)}, b, b.Len(), k.count); err != nil {
			return 0, err
		}
	}
	n, err := k.count.CopyOut(k.d)
	if err != nil {
		return 0, err
	}
	return n[0], nil
}

// read brings zeros into the cache, whatever was there before: all of it is clean then.
func (k *known) read(zeros device.Memory) error {
	b, err := device.BufferOf[uint32](zeros)
	if err != nil {
		return err
	}
	return k.d.Launch(k.reading, device.Launch{Grid: device.D1(8 * k.d.Info().Processors), Block: device.D1(256)}, b, b.Len()/4, k.count)
}

// multiplyAdd does wire.AddedFLOPS operations.
func (k *known) multiplyAdd(processors int) error {
	return k.d.Launch(k.adding, device.Launch{Grid: device.D1(processors * wire.AddBlocks), Block: device.D1(wire.AddThreads)},
		k.count, wire.AddRounds, float32(0.5))
}
