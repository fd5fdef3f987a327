package worker

import (
	"fmt"
	"strconv"

	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/wire"
	"flashlab/nn"
	"flashlab/tensor"
)

// gaugeBlock is the threads of a block, but of multiply_add's.
const gaugeBlock = 256

// gauge has the timing's own kernels.
type gauge struct {
	d                         device.Device
	fill                      *nn.Layers
	countBad, adding, softmax device.Kernel
	reading, widen, narrow    device.Kernel
	softmaxNarrow             device.Kernel
	tensors                   device.Kernel // compiled when it is first asked for
	count                     device.Buffer[uint32]
	made                      bool
}

func newGauge(d device.Device) (*gauge, error) {
	g := &gauge{d: d}
	var err error
	if g.fill, err = nn.NewFill(d); err != nil {
		return nil, fmt.Errorf("the timing's own kernels: %w", err)
	}
	m, err := d.Compile(device.Source{Folder: "grader/grading/worker", Name: "gauge.cu", Defines: map[string]string{
		"BLOCK": strconv.Itoa(gaugeBlock), "ADDS": strconv.Itoa(wire.AddsOfRound)}})
	if err != nil {
		return nil, fmt.Errorf("the timing's own kernels: %w", err)
	}
	for name, to := range map[string]*device.Kernel{
		"count_bad": &g.countBad, "multiply_add": &g.adding, "softmax_rows": &g.softmax, "read_through": &g.reading,
		"widen": &g.widen, "narrow": &g.narrow, "softmax_narrow": &g.softmaxNarrow,
	} {
		if *to, err = m.Kernel(name); err != nil {
			return nil, err
		}
	}
	g.count, err = device.Alloc[uint32](d, "count of bad values", 1)
	g.made = err == nil
	return g, err
}

func (g *gauge) close() {
	if g.made {
		_ = g.count.Free(g.d)
	}
}

// infinities are the bits of infinity: a float with all of them is infinite or NaN. E8M0 has NaN alone.
var infinities = map[tensor.Type]uint32{tensor.Float32: 0x7f800000, tensor.Float16: 0x7c00, tensor.BFloat16: 0x7f80, tensor.E8M0: 0xff}

// bad counts the elements that are NaN or infinite.
func (g *gauge) bad(out Places, of []problem.Tensor) (uint32, error) {
	if err := g.d.Set(g.count.Memory(), 0); err != nil {
		return 0, err
	}
	for i, m := range out {
		n, infinity := of[i].Elements(), infinities[of[i].Type]
		if infinity == 0 {
			continue
		}
		bytes, err := device.BufferOf[uint8](m)
		if err != nil {
			return 0, err
		}
		blocks := min((n+gaugeBlock-1)/gaugeBlock, 16*g.d.Info().Processors)
		if err := g.d.Launch(g.countBad, device.Launch{Grid: device.D1(blocks), Block: device.D1(gaugeBlock)}, bytes, n, of[i].Bytes()/n, infinity, g.count); err != nil {
			return 0, err
		}
	}
	n, err := g.count.CopyOut(g.d)
	if err != nil {
		return 0, err
	}
	return n[0], nil
}

// read brings zeros into the cache, whatever was there before: all of it is clean then.
func (g *gauge) read(zeros device.Memory) error {
	b, err := device.BufferOf[uint32](zeros)
	if err != nil {
		return err
	}
	return g.d.Launch(g.reading, device.Launch{Grid: device.D1(8 * g.d.Info().Processors), Block: device.D1(gaugeBlock)}, b, b.Len()/4, g.count)
}

// multiplyAdd does wire.AddedFLOPS operations.
func (g *gauge) multiplyAdd(processors int) error {
	return g.d.Launch(g.adding, device.Launch{Grid: device.D1(processors * wire.AddBlocks), Block: device.D1(wire.AddThreads)},
		g.count, wire.AddRounds, float32(0.5))
}

// tensorProducts does wire.TensorFLOPS operations, with the instructions of Hopper's tensor cores.
func (g *gauge) tensorProducts(rounds int) (func() error, error) {
	info := g.d.Info()
	if info.Kind == device.CUDA && info.Arch != "sm_90" {
		return nil, fmt.Errorf("the rate of tensor cores is measured on Hopper (sm_90) alone, and this GPU is %s", info.Arch)
	}
	if g.tensors == nil {
		m, err := g.d.Compile(device.Source{Folder: "grader/grading/worker", Name: "tensors.cu"})
		if err != nil {
			return nil, fmt.Errorf("the timing's own kernels: %w", err)
		}
		if g.tensors, err = m.Kernel("tensor_products"); err != nil {
			return nil, err
		}
	}
	l := device.Launch{Grid: device.D1(info.Processors), Block: device.D1(wire.TensorThreads), Shared: wire.TensorShared}
	return func() error { return g.d.Launch(g.tensors, l, g.count, rounds) }, nil
}
