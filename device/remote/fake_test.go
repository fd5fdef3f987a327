package remote

import (
	"fmt"
	"strings"

	"flashlab/device"
	"flashlab/device/protocol"
)

// fake is a device of Go memory. It has no kernels but those of ScanKernels, and
// a launch only records what arrived.
type fake struct {
	next     uint64
	blocks   map[uint64][]byte
	launched []device.Value
	fail     error // what the next launch returns
	direct   bool  // its kernels take launches as they travel
}

func newFake() *fake { return &fake{next: 1 << 20, blocks: map[uint64][]byte{}} }

func (f *fake) Info() device.Info {
	return device.Info{Kind: device.Sim, Name: "fake", MaxThreads: 1024, MaxShared: 1 << 16, WarpSize: 32}
}

func (f *fake) Malloc(name string, bytes int64) (device.Memory, error) {
	if bytes > 1<<28 {
		return device.Memory{}, fmt.Errorf("alloc %s: %w", name, device.ErrOutOfMemory)
	}
	m := device.Memory{Addr: f.next, Bytes: bytes, Name: name}
	f.blocks[m.Addr] = make([]byte, bytes)
	f.next += uint64(bytes) + 256
	return m, nil
}

func (f *fake) Free(m device.Memory) error {
	delete(f.blocks, m.Addr)
	return nil
}

// bytes panics on a bad address: the server must never let one through.
func (f *fake) bytes(m device.Memory) []byte {
	for at, b := range f.blocks {
		if m.Addr >= at && m.Addr-at < uint64(len(b)) {
			return b[m.Addr-at:][:m.Bytes]
		}
	}
	panic(fmt.Sprintf("address %#x was never handed out", m.Addr))
}

func (f *fake) CopyIn(dst device.Memory, src []byte) error {
	copy(f.bytes(dst), src)
	return nil
}

func (f *fake) CopyOut(dst []byte, src device.Memory) error {
	copy(dst, f.bytes(src))
	return nil
}

func (f *fake) Set(dst device.Memory, value byte) error {
	for i, b := 0, f.bytes(dst); i < len(b); i++ {
		b[i] = value
	}
	return nil
}

func (f *fake) Poison(m device.Memory) error { return f.Set(m, 0xff) }

func (f *fake) Compile(src device.Source) (device.Module, error) {
	if strings.Contains(src.Text, "oops") {
		return nil, &device.CompileError{File: src.Name, Diagnostics: []device.Diagnostic{{File: src.Name, Line: 3, Severity: "error", Text: "oops"}}}
	}
	return fakeModule{f, src.Name, device.ScanKernels(src.Text)}, nil
}

type fakeModule struct {
	fake *fake
	file string
	sigs []device.Signature
}

type fakeKernel struct{ sig device.Signature }

func (k fakeKernel) Signature() device.Signature { return k.sig }

func (m fakeModule) Kernel(name string) (device.Kernel, error) {
	sig, err := device.FindKernel(m.file, m.sigs, name)
	if m.fake.direct {
		return directKernel{fakeKernel{sig}, m.fake}, err
	}
	return fakeKernel{sig}, err
}

// directKernel trusts what it is given, as the simulator's kernels do.
type directKernel struct {
	fakeKernel
	fake *fake
}

func (k directKernel) Start(request protocol.Message) error {
	request.Readdress(77)
	var l protocol.Launch
	if err := request.Decode(&l); err != nil {
		panic(err)
	}
	if full, err := device.CheckLaunch("", l.Shape.Launch(), k.fake.Info()); err != nil || protocol.ShapeOf(full) != l.Shape || l.Kernel != 77 || len(l.Args) != len(k.sig.Params) {
		panic(fmt.Sprintf("a launch that was not checked: %v", l))
	}
	return k.fake.start(k.sig, l.Args)
}

func (f *fake) Launch(k device.Kernel, l device.Launch, args ...any) error {
	if _, err := device.CheckLaunch(k.Signature().Name, l, f.Info()); err != nil {
		return err
	}
	values, err := device.LayOut(k.Signature(), args)
	if err != nil {
		return err
	}
	return f.start(k.Signature(), values)
}

func (f *fake) start(sig device.Signature, values []device.Value) error {
	for i, p := range sig.Params {
		if values[i].Size != p.Size {
			panic(fmt.Sprintf("%d bytes for %s", values[i].Size, p.Type))
		}
		if p.Kind == device.Pointer && values[i].Bits != 0 { // device.Null
			f.bytes(device.Memory{Addr: values[i].Bits})
		}
	}
	f.launched = values
	return f.fail
}

func (f *fake) Sync() error                     { return nil }
func (f *fake) NewEvent() (device.Event, error) { return nil, device.ErrNoClock }
func (f *fake) Close() error                    { return nil }

func (f *fake) Record(func(q device.Queue) error) (device.Graph, error) {
	panic("the client does the recording")
}

func (f *fake) Attributes(device.Kernel) (device.Attributes, error) {
	return device.Attributes{Registers: 7}, nil
}
