package remote

import (
	"fmt"
	"strings"

	"flashlab/device"
)

// fake is a device of Go memory. It has no kernels but those of ScanKernels, and
// a launch only records what arrived.
type fake struct {
	next     uint64
	blocks   map[uint64][]byte
	launched []device.Value
	fail     error // what the next launch returns
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
	return fakeModule{src.Name, device.ScanKernels(src.Text)}, nil
}

type fakeModule struct {
	file string
	sigs []device.Signature
}

type fakeKernel struct{ sig device.Signature }

func (k fakeKernel) Signature() device.Signature { return k.sig }

func (m fakeModule) Kernel(name string) (device.Kernel, error) {
	sig, err := device.FindKernel(m.file, m.sigs, name)
	return fakeKernel{sig}, err
}

func (f *fake) Launch(k device.Kernel, l device.Launch, args ...any) error {
	if _, err := device.CheckLaunch(k.Signature().Name, l, f.Info()); err != nil {
		return err
	}
	values, err := device.Pack(k.Signature(), args)
	if err != nil {
		return err
	}
	f.launched = values
	return f.fail
}

func (f *fake) Sync() error                     { return nil }
func (f *fake) NewEvent() (device.Event, error) { return nil, device.ErrNoClock }
func (f *fake) Close() error                    { return nil }

func (f *fake) Record(func(q device.Queue) error) (device.Graph, error) {
	panic("the client records by itself")
}

func (f *fake) Attributes(device.Kernel) (device.Attributes, error) {
	return device.Attributes{Registers: 7}, nil
}
