package plans

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"flashlab/device"
	"flashlab/internal/cache"
)

// recorder is a Queue that runs nothing. The addresses that it hands out lie where no GPU has memory, so
// that they are recognised wherever they turn up.
type recorder struct {
	info    device.Info
	plan    Plan
	sources []*module // of plan.Modules
	next    uint64
	headers map[string]string // that kernels may include beside their own
}

// first is where addresses begin; blocks lie far apart.
const first, apart = uint64(0x7e57) << 44, 256

type module struct {
	source  device.Source
	kernels []device.Signature
}

type kernel struct {
	of  *module
	sig device.Signature
}

func (k kernel) Signature() device.Signature { return k.sig }

func (m *module) Kernel(name string) (device.Kernel, error) {
	sig, err := device.FindKernel(m.source.Name, m.kernels, name)
	if err != nil {
		return nil, err
	}
	return kernel{m, sig}, nil
}

func (r *recorder) Info() device.Info { return r.info }

// block makes a block that begins offset bytes behind a multiple of 256.
func (r *recorder) block(name string, bytes int64, offset int, tensor bool) device.Memory {
	if r.next == 0 {
		r.next = first
	}
	base := r.next + uint64(offset)
	r.next = (base+uint64(bytes)+apart-1)/apart*apart + apart
	r.plan.Blocks = append(r.plan.Blocks, Block{name, bytes, tensor, base})
	return device.Memory{Addr: base, Bytes: bytes, Name: name}
}

func (r *recorder) Malloc(name string, bytes int64) (device.Memory, error) {
	if bytes <= 0 {
		return device.Memory{}, fmt.Errorf("malloc %s: %d bytes: want at least 1", name, bytes)
	}
	return r.block(name, bytes, 0, false), nil
}

// Free keeps the block: later steps of a call may not use it, but earlier ones do.
func (r *recorder) Free(m device.Memory) error {
	_, err := r.find(m)
	return err
}

// find is the block that memory lies in.
func (r *recorder) find(m device.Memory) (Pointer, error) {
	for i, b := range r.plan.Blocks {
		if m.Addr >= b.base && m.Addr+uint64(m.Bytes) <= b.base+uint64(b.Bytes) {
			return Pointer{Block: i, Offset: int64(m.Addr - b.base)}, nil
		}
	}
	return Pointer{}, fmt.Errorf("the buffer %q lies in no memory of this call", m.Name)
}

func (r *recorder) fill(dst device.Memory, value byte, data []byte) error {
	at, err := r.find(dst)
	if err != nil {
		return err
	}
	r.plan.Steps = append(r.plan.Steps, Step{Fill: &Fill{at.Block, at.Offset, dst.Bytes, value, data}})
	return nil
}

func (r *recorder) CopyIn(dst device.Memory, src []byte) error {
	if int64(len(src)) != dst.Bytes {
		return fmt.Errorf("copy to %s: %d bytes, want %d", dst.Name, len(src), dst.Bytes)
	}
	return r.fill(dst, 0, slices.Clone(src))
}

func (r *recorder) Set(dst device.Memory, value byte) error { return r.fill(dst, value, nil) }

// CopyOut cannot be: what is launched next would depend on numbers that only the GPU has.
func (r *recorder) CopyOut(_ []byte, src device.Memory) error {
	return fmt.Errorf("the Go code copies %q back from the device, which a call from Python cannot do: let a kernel use it where it is", src.Name)
}

func (r *recorder) Compile(src device.Source) (device.Module, error) {
	src, err := src.Whole()
	if err != nil {
		return nil, err
	}
	if err := src.Check(); err != nil {
		return nil, err
	}
	src = src.With(r.headers)
	src.Defines = maps.Clone(src.Defines)
	key := src.Text + fmt.Sprint(src.Files) // maps print in order
	kernels, ok := scanned[key]
	if !ok {
		kernels = src.Scan()
		scanned[key] = kernels
	}
	return &module{src, kernels}, nil
}

// scanned keeps the kernels of sources by their texts: one is compiled in every call, and scanning takes milliseconds.
var scanned = map[string][]device.Signature{}

func (r *recorder) Launch(k device.Kernel, l device.Launch, args ...any) error {
	ours, ok := k.(kernel)
	if !ok {
		return device.Refuse("(unknown)", "the kernel was not compiled by this device: got a %T", k)
	}
	l, err := device.CheckLaunch(ours.sig.Name, l, r.info)
	if err != nil {
		return err
	}
	values, err := device.LayOut(ours.sig, args)
	if err != nil {
		return err
	}
	// Early changes nothing here: outside a graph of Go's own it never does.
	step := Launch{Module: r.index(ours.of), Kernel: ours.sig.Name, Grid: dim(l.Grid), Block: dim(l.Block), Shared: l.Shared, Cooperative: l.Cooperative}
	if l.Cluster != (device.Dim{}) {
		cluster := dim(l.Cluster)
		step.Cluster = &cluster
	}
	for _, v := range values {
		argument, err := r.argument(v)
		if err != nil {
			return device.Refuse(ours.sig.Name, "%v", err)
		}
		step.Arguments = append(step.Arguments, argument)
	}
	r.plan.Steps = append(r.plan.Steps, Step{Launch: &step})
	return nil
}

func dim(d device.Dim) [3]int { return [3]int{d.X, d.Y, d.Z} }

// argument finds the addresses in a value: a pointer is one, and a struct may hold some.
func (r *recorder) argument(v device.Value) (Argument, error) {
	if m := v.Map; m != nil {
		p, err := r.find(m.Memory)
		return Argument{Bytes: make([]byte, v.Size), Pointers: []Pointer{p}, Map: &Map{int(m.Element), m.Sizes, m.Strides, m.Box, m.Swizzle}}, err
	}
	a := Argument{Bytes: slices.Clone(v.More)}
	if len(a.Bytes) == 0 {
		a.Bytes = binary.LittleEndian.AppendUint64(nil, v.Bits)[:v.Size]
	}
	for at := 0; at+8 <= len(a.Bytes); at += 8 {
		addr := binary.LittleEndian.Uint64(a.Bytes[at:])
		if addr < first || addr >= r.next {
			continue
		}
		p, err := r.find(device.Memory{Addr: addr, Bytes: 1})
		if err != nil {
			return a, err
		}
		p.At = at
		a.Pointers = append(a.Pointers, p)
	}
	return a, nil
}

// index is a module's place in the plan. Modules that nothing is launched from are not in it.
func (r *recorder) index(m *module) int {
	if i := slices.Index(r.sources, m); i >= 0 {
		return i
	}
	key := cache.Key("plan 1", r.info.Arch, m.source.Name, m.source.Text, fmt.Sprint(m.source.Defines), fmt.Sprint(m.source.Files))
	r.sources = append(r.sources, m)
	r.plan.Modules = append(r.plan.Modules, Module{Name: m.source.Name, Key: key, Text: m.source.Text})
	return len(r.sources) - 1
}
