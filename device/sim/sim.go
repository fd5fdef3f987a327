// Package sim is a GPU in software: it compiles a .cu file with the machine's
// own C++ compiler and runs its threads, block by block, in a separate process
// that checks and counts every memory access.
//
// README.md explains how it works.
package sim

import (
	"errors"
	"fmt"
	"path/filepath"

	"flashlab/device"
	"flashlab/device/graphs"
	"flashlab/device/protocol"
	"flashlab/internal/cache"
	"flashlab/internal/jail"
)

// Device is a running simulator.
type Device struct {
	process  *process
	view     *view // the modules that a jailed process may see
	compiler *compiler
	cacheDir string
	options  Options
	modules  []*module // by the simulator's number
	graphs   graphs.Recorder
}

var _ device.Device = (*Device)(nil)

// Start builds the simulator if need be, and starts its process.
func Start(o Options) (*Device, error) {
	o = o.withDefaults()
	if o.Cache == "" {
		dir, err := cache.Dir()
		if err != nil {
			return nil, fmt.Errorf("simulator: %w", err)
		}
		o.Cache = dir
	}
	c, err := findCompiler(o.Compiler)
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	binary, err := buildRuntime(c, o.Cache)
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", cache.Explain(o.Cache, err))
	}
	if c, err = c.unrolling(o.Unroll).jailed(o); err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	v, err := newView(o)
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	p, err := startProcess(c, binary, o, v)
	if err != nil {
		v.remove()
		return nil, fmt.Errorf("simulator: %w", err)
	}
	d := &Device{process: p, view: v, compiler: c, cacheDir: o.Cache, options: o}
	configure := protocol.New(protocol.OpConfigure, o.Checks, o.MaxSteps, o.Timeout.Milliseconds(), o.Memory, o.Workers, o.FLOPs, o.Show.Thread, o.Show.Block, o.Lines, o.Sample)
	if err := d.ask(configure, nil); err != nil {
		d.Close()
		if o.Jail == nil || jail.Failed(p.cmd, p.errors.text()) == nil {
			err = fmt.Errorf("%w: %s", err, misfit)
		}
		return nil, fmt.Errorf("simulator: %w", err)
	}
	return d, nil
}

// ask sends a request that runs no kernel, and reads the answer into what is wanted.
func (d *Device) ask(request protocol.Message, data []byte, wanted ...any) error {
	answer, err := d.process.call(quickLimit, request, data)
	switch {
	case err != nil:
		return err
	case answer.Status() == protocol.NoMemory:
		return fmt.Errorf("%w: %s", device.ErrOutOfMemory, answer.Body())
	case answer.Status() != protocol.OK:
		return errors.New(string(answer.Body()))
	}
	return answer.Decode(wanted...)
}

// processors is what every simulator says it has, whatever the computer: a kernel with a block for each
// of them moves as many bytes, and is worth as many points, on a laptop as on a cluster. They are so few
// that such blocks take several turns at small sizes, too.
const processors = 4

// Info describes the simulator.
func (d *Device) Info() device.Info {
	as := device.Info{Arch: "sim", Processors: processors}
	if d.options.As != nil {
		as = *d.options.As
	}
	return device.Info{
		Kind: device.Sim, Name: "flashlab simulator", Arch: as.Arch,
		Processors: as.Processors, WarpSize: 32, MaxThreads: maxThreads, MaxShared: maxShared,
		MemoryBytes: d.options.Memory, ToolkitVersion: d.compiler.version,
	}
}

// Malloc allocates device memory, filled with NaN.
func (d *Device) Malloc(name string, bytes int64) (device.Memory, error) {
	if err := d.graphs.Refuse("malloc " + name); err != nil {
		return device.Memory{}, err
	}
	if bytes <= 0 {
		return device.Memory{}, fmt.Errorf("malloc %s: %d bytes: want at least 1", name, bytes)
	}
	m := device.Memory{Bytes: bytes, Name: name}
	if err := d.ask(protocol.New(protocol.OpAllocate, m), nil, &m.Addr); err != nil {
		return device.Memory{}, fmt.Errorf("malloc %s: %w", name, err)
	}
	return m, nil
}

// Free gives memory back; a kernel that still uses it is caught.
func (d *Device) Free(m device.Memory) error {
	if err := d.graphs.Refuse("free " + m.Name); err != nil {
		return err
	}
	if err := d.ask(protocol.New(protocol.OpFree, m), nil); err != nil {
		return fmt.Errorf("free %s: %w", m.Name, err)
	}
	return nil
}

// CopyIn copies to the device.
func (d *Device) CopyIn(dst device.Memory, src []byte) error {
	if err := d.graphs.Refuse("copy to " + dst.Name); err != nil {
		return err
	}
	if int64(len(src)) != dst.Bytes {
		return fmt.Errorf("copy to %s: %d bytes for %d", dst.Name, len(src), dst.Bytes)
	}
	for part, data := range protocol.Parts(dst, src) {
		if err := d.ask(protocol.New(protocol.OpCopyIn, part), data); err != nil {
			return fmt.Errorf("copy to %s: %w", dst.Name, err)
		}
	}
	return nil
}

// CopyOut copies from the device. Bytes that nothing has written are a finding.
func (d *Device) CopyOut(dst []byte, src device.Memory) error {
	if err := d.graphs.Refuse("copy from " + src.Name); err != nil {
		return err
	}
	if int64(len(dst)) != src.Bytes {
		return fmt.Errorf("copy from %s: %d bytes for %d", src.Name, src.Bytes, len(dst))
	}
	for part, data := range protocol.Parts(src, dst) {
		if err := d.ask(protocol.New(protocol.OpCopyOut, part), nil, protocol.Into(data)); err != nil {
			return fmt.Errorf("copy from %s: %w", src.Name, err)
		}
	}
	return nil
}

// Set writes one byte everywhere.
func (d *Device) Set(dst device.Memory, value byte) error {
	return d.fill(dst, protocol.New(protocol.OpSet, dst, value))
}

// Poison writes NaN everywhere and marks it as never written.
func (d *Device) Poison(m device.Memory) error {
	return d.fill(m, protocol.New(protocol.OpPoison, m))
}

func (d *Device) fill(m device.Memory, request protocol.Message) error {
	return d.graphs.Do(func() error {
		if err := d.ask(request, nil); err != nil {
			return fmt.Errorf("set %s: %w", m.Name, err)
		}
		return nil
	})
}

// Sync has nothing to wait for: launches return when they are done.
func (d *Device) Sync() error { return d.graphs.Refuse("sync") }

// NewEvent refuses: simulated time means nothing.
func (d *Device) NewEvent() (device.Event, error) { return nil, device.ErrNoClock }

// Reset frees all memory and forgets findings and counts; modules stay.
func (d *Device) Reset() error {
	return d.ask(protocol.New(protocol.OpReset), nil)
}

// Close ends the process.
func (d *Device) Close() error {
	defer d.view.remove()
	return d.process.close()
}

// Compile builds a .cu file, or finds it in the cache.
func (d *Device) Compile(src device.Source) (device.Module, error) {
	if err := d.graphs.Refuse("compile " + src.Name); err != nil {
		return nil, err
	}
	if src.Name == "" {
		src.Name = "kernels.cu"
	}
	src, err := src.Whole()
	if err != nil {
		return nil, err
	}
	if err := src.Check(); err != nil {
		return nil, err
	}
	s := moduleSource{name: src.Name, text: src.Text, defines: src.Defines, files: src.Files, wanted: src.Kernels,
		checks: d.options.Checks, vet: d.options.Vet}
	dir, err := d.options.Own.Place(src, filepath.Join(d.cacheDir, "modules"))
	if err != nil {
		return nil, err
	}
	so, about, err := d.compiler.cachedModule(d.cacheDir, dir, s)
	if err != nil {
		return nil, cache.Explain(dir, err)
	}
	d.options.tell(src, so)
	visible, err := d.view.show(so)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", src.Name, err)
	}
	m := &module{device: d, source: src, path: so, about: about}
	for _, e := range about.Entries {
		m.signatures = append(m.signatures, e.Signature)
	}
	if err := d.ask(protocol.New(protocol.OpLoad, visible, about.Constants, about.Unset), nil, &m.id); err != nil {
		return nil, fmt.Errorf("load %s: %w: %s", src.Name, err, misfit)
	}
	if m.id > mostModules {
		return nil, fmt.Errorf("load %s: module %d: %w", src.Name, m.id, protocol.ErrMalformed)
	}
	for len(d.modules) <= int(m.id) {
		d.modules = append(d.modules, nil)
	}
	d.modules[m.id] = m
	return m, nil
}
