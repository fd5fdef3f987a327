package nn

import (
	"fmt"
	"math"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/tensor"
)

// flash.cu is written for these.
const (
	flashDim     = 128
	flashTile    = 128     // queries of a block, and keys that it takes at a time
	flashThreads = 3 * 128 // one warpgroup asks for tiles, two multiply
	flashShared  = 3*flashTile*flashDim*4 + 1024
	cutBlock     = 256
	mostHeads    = 65535 // a grid's second side
)

// The students' tree has neither flash.cu nor this file.
func init() { defines["flash.cu"] = map[string]int{"BLOCK": cutBlock, "DIM": flashDim} }

// Flash is attention as exact as in float32 on Hopper's tensor cores, for heads of 128 numbers. Its scratch grows at
// the first call of a size, which cannot be recorded; and no two calls may run at the same time.
type Flash struct {
	queue       device.Queue
	cut, attend device.Kernel
	q, k, v     cutTensor
}

// cutTensor are the halves of a tensor's rows, and the scales of each eight of them.
type cutTensor struct {
	name   string
	halves device.Buffer[device.Float16]
	scales Ints
}

var _ attn.Kernel = (*Flash)(nil)

// NewFlash compiles the kernels. They need sm_90; the simulator runs them anywhere.
func NewFlash(q device.Queue) (*Flash, error) {
	if d := q.Info(); d.Arch != "sm_90" && d.Arch != "sim" {
		return nil, fmt.Errorf("attention by flash.cu needs Hopper (sm_90), and %s is %s", d.Name, d.Arch)
	}
	k, err := compile(q, map[string][]string{"flash.cu": {"cut_rows", "flash"}})
	if err != nil {
		return nil, err
	}
	return &Flash{queue: q, cut: k["cut_rows"], attend: k["flash"], q: cutTensor{name: "q"}, k: cutTensor{name: "k"}, v: cutTensor{name: "v"}}, nil
}

// Run writes softmax(q·kᵀ/√Dim)·v to out.
func (f *Flash) Run(out, q, k, v Floats, s attn.Shape) error {
	if err := s.Check(out, q, k, v); err != nil {
		return err
	}
	switch {
	case s.Dim != flashDim:
		return fmt.Errorf("attention of %v: flash.cu has heads of %d numbers only", s, flashDim)
	case s.Window > 0:
		return fmt.Errorf("attention of %v: flash.cu has no window", s)
	case s.Batch*s.Heads > mostHeads:
		return fmt.Errorf("attention of %v: %d heads in all, want %d at most", s, s.Batch*s.Heads, mostHeads)
	case !wide(flashDim, out, q, k, v):
		return fmt.Errorf("attention of %v: out, q, k and v must begin at multiples of 16 bytes", s)
	}
	qMap, err := f.halve(&f.q, q, s.Batch*s.Heads, s.SeqQ)
	if err != nil {
		return err
	}
	kMap, err := f.halve(&f.k, k, s.Batch*s.KVHeads, s.SeqK)
	if err != nil {
		return err
	}
	vMap, err := f.halve(&f.v, v, s.Batch*s.KVHeads, s.SeqK)
	if err != nil {
		return err
	}
	l := device.Launch{Grid: device.D2(tiles(s.SeqQ, flashTile), s.Batch*s.Heads), Block: device.D1(flashThreads), Shared: flashShared}
	return f.queue.Launch(f.attend, l, qMap, kMap, vMap, f.q.scales, f.k.scales, f.v.scales, out, s.SeqQ, s.SeqK, s.Heads/s.KVHeads, s.Causal,
		math.Log2E/math.Sqrt(flashDim))
}

// halve cuts x [heads, rows, flashDim], and maps its halves by tiles.
func (f *Flash) halve(to *cutTensor, x Floats, heads, rows int) (device.TensorMap, error) {
	groups := tiles(rows, 8)
	if err := atLeast(f.queue, &to.halves, to.name+"'s halves", 2*heads*rows*flashDim); err != nil {
		return device.TensorMap{}, err
	}
	if err := atLeast(f.queue, &to.scales, to.name+"'s scales", heads*groups); err != nil {
		return device.TensorMap{}, err
	}
	l := device.Launch{Grid: device.D2(tiles(groups, cutBlock/32), heads), Block: device.D1(cutBlock)}
	if err := f.queue.Launch(f.cut, l, x, to.halves, to.scales, rows); err != nil {
		return device.TensorMap{}, err
	}
	return device.NewTensorMap(to.halves.Memory(), tensor.Float16, []int{flashDim, rows, 2 * heads}, []int{64, flashTile, 1}, 128)
}
