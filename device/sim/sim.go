// Package sim is a GPU in software: it compiles a .cu file with the machine's
// own C++ compiler and runs its threads, block by block, in a process of its
// own that checks every memory access and counts them.
//
// How it works stands in README.md.
package sim

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"time"

	"flashlab/device"
	"flashlab/device/replay"
	"flashlab/internal/cache"
	"flashlab/internal/jail"
)

const (
	maxThreads = 1024
	maxShared  = 227 << 10 // bytes a block, as on an H100

	defaultSteps   = 2_000_000_000
	defaultTimeout = 60 * time.Second
	defaultMemory  = 4 << 30
	quickLimit     = 60 * time.Second // for commands that run no kernel
)

// Checks says what is looked for while kernels run. With none of them kernels
// are compiled plain: fast, and a wild address may go unseen.
type Checks struct {
	Mem     bool // addresses: bounds, alignment, use after free
	Race    bool // accesses that no barrier orders
	Init    bool // reads of memory that was never written
	Sync    bool // barriers that part of a block does not reach
	Traffic bool // counts of bytes and transactions
}

// AllChecks is what grading uses.
func AllChecks() Checks { return Checks{true, true, true, true, true} }

func (c Checks) bits() int {
	bits := 0
	for i, on := range []bool{c.Mem, c.Race, c.Init, c.Sync, c.Traffic} {
		if on {
			bits |= 1 << i
		}
	}
	return bits
}

// Options of a simulator; the zero value of each means its default.
type Options struct {
	Checks   Checks
	MaxSteps uint64        // memory accesses, barriers and basic blocks that a block may come to
	Workers  int           // blocks that run at the same time; default: one for each core
	Timeout  time.Duration // wall clock a launch may take
	Memory   int64         // bytes of device memory
	Cache    string        // directory; default: cache.Dir
	Compiler string        // default: the first that builds a probe kernel
	Show     Show          // whose printf is kept; default: every thread's
	Jail     jail.Maker    // runs the compiler on kernels, and the simulator; nil: as they are
}

// Device is a running simulator.
type Device struct {
	process  *process
	view     *view // the modules that a jailed process may see
	compiler *compiler
	cacheDir string
	options  Options
	modules  []*module // by the simulator's number
	graphs   replay.Recorder
}

var _ device.Device = (*Device)(nil)

// Start builds the simulator if need be, and starts its process.
func Start(o Options) (*Device, error) {
	if o.MaxSteps == 0 {
		o.MaxSteps = defaultSteps
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Workers <= 0 {
		o.Workers = min(runtime.NumCPU(), 64)
	}
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
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
		return nil, fmt.Errorf("simulator: %w", err)
	}
	if c, err = c.jailed(o); err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	v, err := newView(o)
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	p, err := startProcess(binary, o, v)
	if err != nil {
		v.remove()
		return nil, fmt.Errorf("simulator: %w", err)
	}
	d := &Device{process: p, view: v, compiler: c, cacheDir: o.Cache, options: o}
	body := message(nil).u32(o.Checks.bits()).u64(o.MaxSteps).u64(uint64(o.Timeout.Milliseconds())).u64(uint64(o.Memory)).u32(o.Workers).show(o.Show)
	if _, err := d.quick(opConfigure, body); err != nil {
		d.Close()
		return nil, fmt.Errorf("simulator: %w", err)
	}
	return d, nil
}

// refused is a command that the simulator would not carry out.
type refused struct{ text string }

func (e *refused) Error() string { return e.text }

// quick sends a command that runs no kernel.
func (d *Device) quick(op byte, body ...[]byte) ([]byte, error) {
	status, answer, err := d.process.call(quickLimit, op, body...)
	switch {
	case err != nil:
		return nil, err
	case status == statusNoMemory:
		return nil, fmt.Errorf("%w: %s", device.ErrOutOfMemory, answer)
	case status != statusOK:
		return nil, &refused{string(answer)}
	}
	return answer, nil
}

// Info describes the simulator.
func (d *Device) Info() device.Info {
	return device.Info{
		Kind: device.Sim, Name: "flashlab simulator", Arch: "sim",
		Processors: d.options.Workers, WarpSize: 32, MaxThreads: maxThreads, MaxShared: maxShared,
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
	answer, err := d.quick(opAllocate, message(nil).u64(uint64(bytes)).text(name))
	if err != nil {
		return device.Memory{}, fmt.Errorf("malloc %s: %w", name, err)
	}
	return device.Memory{Addr: binary.LittleEndian.Uint64(answer), Bytes: bytes, Name: name}, nil
}

// Free gives memory back; a kernel that still uses it is found out.
func (d *Device) Free(m device.Memory) error {
	if err := d.graphs.Refuse("free " + m.Name); err != nil {
		return err
	}
	if _, err := d.quick(opFree, message(nil).u64(m.Addr)); err != nil {
		return fmt.Errorf("free %s: %w", m.Name, err)
	}
	return nil
}

// chunk bounds one copy's message.
const chunk = 64 << 20

// CopyIn copies to the device.
func (d *Device) CopyIn(dst device.Memory, src []byte) error {
	if err := d.graphs.Refuse("copy to " + dst.Name); err != nil {
		return err
	}
	if int64(len(src)) != dst.Bytes {
		return fmt.Errorf("copy to %s: %d bytes for %d", dst.Name, len(src), dst.Bytes)
	}
	for at := 0; at < len(src); at += chunk {
		part := src[at:min(at+chunk, len(src))]
		if _, err := d.quick(opCopyIn, message(nil).u64(dst.Addr+uint64(at)), part); err != nil {
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
	for at := 0; at < len(dst); at += chunk {
		part := dst[at:min(at+chunk, len(dst))]
		answer, err := d.quick(opCopyOut, message(nil).u64(src.Addr+uint64(at)).u64(uint64(len(part))))
		if err != nil {
			return fmt.Errorf("copy from %s: %w", src.Name, err)
		}
		copy(part, answer)
	}
	return nil
}

// Set writes one byte everywhere.
func (d *Device) Set(dst device.Memory, value byte) error {
	return d.graphs.Do(func() error { return d.set(dst, value, 0) })
}

// Poison writes NaN everywhere and marks it as never written.
func (d *Device) Poison(m device.Memory) error {
	return d.graphs.Do(func() error { return d.set(m, 0xff, 1) })
}

func (d *Device) set(m device.Memory, value, poison byte) error {
	body := append(message(nil).u64(m.Addr).u64(uint64(m.Bytes)), value, poison)
	if _, err := d.quick(opSet, body); err != nil {
		return fmt.Errorf("set %s: %w", m.Name, err)
	}
	return nil
}

// Sync has nothing to wait for: launches return when they are done.
func (d *Device) Sync() error { return d.graphs.Refuse("sync") }

// NewEvent refuses: simulated time means nothing.
func (d *Device) NewEvent() (device.Event, error) { return nil, device.ErrNoClock }

// Reset frees all memory and forgets findings and counts; modules stay.
func (d *Device) Reset() error {
	_, err := d.quick(opReset)
	return err
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
	if err := src.Check(); err != nil {
		return nil, err
	}
	signatures := device.ScanKernels(src.Text)
	s := moduleSource{name: src.Name, text: src.Text, defines: src.Defines, checks: d.options.Checks}
	for _, sig := range signatures {
		s.kernels = append(s.kernels, sig.Name)
	}
	so, err := d.compiler.cachedModule(d.cacheDir, s)
	if err != nil {
		return nil, err
	}
	visible, err := d.view.show(so)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", src.Name, err)
	}
	body := message(nil).text(visible)
	names := constants(src.Text)
	body = body.u32(len(names))
	for _, name := range names {
		body = body.text(name)
	}
	answer, err := d.quick(opLoad, body)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", src.Name, err)
	}
	m := &module{device: d, id: int(binary.LittleEndian.Uint32(answer)), source: src, path: so, signatures: signatures}
	for len(d.modules) <= m.id {
		d.modules = append(d.modules, nil)
	}
	d.modules[m.id] = m
	return m, nil
}
