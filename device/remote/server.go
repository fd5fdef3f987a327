package remote

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"flashlab/device"
	"flashlab/internal/frame"
)

// Bounds on what one client may have the server remember.
const (
	maxModules = 256
	maxKernels = 4096
	maxArgs    = 256
)

// Server offers a device, or a compiler alone, to one client at a time.
type Server struct {
	// Device is what clients work on; nil where only Cubin is offered.
	Device device.Device
	// Vet may refuse a source before it is compiled.
	Vet func(src device.Source) error
	// Cubin compiles for a GPU that the client itself drives.
	Cubin func(src device.Source, arch string) ([]byte, error)
	// Lock, if given, is held while the device works on a request: its owner
	// may want it too.
	Lock sync.Locker
}

// session is what one client has been given.
type session struct {
	*Server
	heap    heap
	modules []device.Module
	kernels []device.Kernel
}

// Serve answers requests until the client hangs up, which is no error. What the
// client allocated and did not free stays allocated.
func (s *Server) Serve(conn io.ReadWriter) error {
	c := &session{Server: s}
	for {
		var q request
		payload, err := frame.Read(conn, &q)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("device server: %w", err)
		}
		answer, data, err := c.answer(q, payload)
		answer.Error = toWire(err)
		if err := frame.Write(conn, answer, data); err != nil {
			return fmt.Errorf("device server: %w", err)
		}
	}
}

// answer does what was asked. A panic of the device behind it is the client's
// error, not the end of its owner.
func (c *session) answer(q request, payload []byte) (r response, data []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: the device failed: %v", cut(q.Op, 20), p)
		}
	}()
	if c.Lock != nil {
		c.Lock.Lock()
		defer c.Lock.Unlock()
	}
	if q.Op == opCubin {
		data, err = c.cubin(q)
		return r, data, err
	}
	if c.Device == nil {
		return r, nil, errors.New("this side only compiles")
	}
	switch q.Op {
	case opInfo:
		info := c.Device.Info()
		r.Info = &info
	case opSync:
		err = c.Device.Sync()
	case opMalloc:
		r.Addr, err = c.malloc(q)
	case opFree:
		var m device.Memory
		if m, err = c.heap.take(q); err == nil {
			err = c.Device.Free(m)
		}
	case opCopyIn, opCopyOut, opSet, opPoison:
		data, err = c.touch(q, payload)
	case opCompile:
		r.ID, err = c.compile(q)
	case opKernel:
		r.ID, r.Signature, err = c.kernel(q)
	case opLaunch:
		err = c.launch(q)
	case opAttributes:
		r.Attributes, err = c.attributes(q)
	default:
		err = fmt.Errorf("unknown request %q", cut(q.Op, 20))
	}
	return r, data, err
}

func (c *session) malloc(q request) (uint64, error) {
	name := cut(q.Name, 100)
	if q.Bytes <= 0 {
		return 0, fmt.Errorf("alloc %s: %d bytes: want at least 1", name, q.Bytes)
	}
	if len(c.heap.blocks) >= maxAllocs {
		return 0, fmt.Errorf("alloc %s: %d buffers are allocated: %w", name, maxAllocs, device.ErrOutOfMemory)
	}
	m, err := c.Device.Malloc(name, q.Bytes)
	if err != nil {
		return 0, err
	}
	c.heap.add(m)
	return m.Addr, nil
}

// touch copies, sets or poisons a checked part of a buffer.
func (c *session) touch(q request, payload []byte) ([]byte, error) {
	m, err := c.heap.part(q.Op, q)
	if err != nil {
		return nil, err
	}
	switch q.Op {
	case opCopyIn:
		if int64(len(payload)) != m.Bytes {
			return nil, fmt.Errorf("copy to %s: got %d bytes, want %d", m.Name, len(payload), m.Bytes)
		}
		return nil, c.Device.CopyIn(m, payload)
	case opCopyOut:
		if m.Bytes > chunk {
			return nil, fmt.Errorf("copy from %s: %d bytes in one message", m.Name, m.Bytes)
		}
		data := make([]byte, m.Bytes)
		if err := c.Device.CopyOut(data, m); err != nil {
			return nil, err
		}
		return data, nil
	case opSet:
		return nil, c.Device.Set(m, q.Value)
	}
	return nil, c.Device.Poison(m)
}

func (c *session) source(q request) (device.Source, error) {
	if q.Source == nil {
		return device.Source{}, errors.New("compile: no source")
	}
	if c.Vet != nil {
		if err := c.Vet(*q.Source); err != nil {
			return device.Source{}, err
		}
	}
	return *q.Source, nil
}

func (c *session) cubin(q request) ([]byte, error) {
	if c.Cubin == nil {
		return nil, errors.New("compile: this side has no compiler for a GPU")
	}
	src, err := c.source(q)
	if err != nil {
		return nil, err
	}
	return c.Cubin(src, q.Arch)
}

func (c *session) compile(q request) (int, error) {
	src, err := c.source(q)
	if err != nil {
		return 0, err
	}
	if len(c.modules) >= maxModules {
		return 0, fmt.Errorf("compile %s: %d modules are loaded already: compile once, in New", cut(src.Name, 100), maxModules)
	}
	m, err := c.Device.Compile(src)
	if err != nil {
		return 0, err
	}
	c.modules = append(c.modules, m)
	return len(c.modules), nil // from 1: 0 is nothing
}

func (c *session) kernel(q request) (int, *device.Signature, error) {
	if q.ID < 1 || q.ID > len(c.modules) {
		return 0, nil, errors.New("kernel: there is no such module")
	}
	if len(c.kernels) >= maxKernels {
		return 0, nil, fmt.Errorf("kernel %s: %d kernels were looked up already: look up once, in New", cut(q.Name, 100), maxKernels)
	}
	k, err := c.modules[q.ID-1].Kernel(cut(q.Name, 200))
	if err != nil {
		return 0, nil, err
	}
	c.kernels = append(c.kernels, k)
	sig := k.Signature()
	return len(c.kernels), &sig, nil
}

// known is a kernel that was looked up before.
func (c *session) known(q request) (device.Kernel, error) {
	if q.ID < 1 || q.ID > len(c.kernels) {
		return nil, device.Refuse("", "there is no such kernel")
	}
	return c.kernels[q.ID-1], nil
}

func (c *session) attributes(q request) (*device.Attributes, error) {
	k, err := c.known(q)
	if err != nil {
		return nil, err
	}
	a, err := c.Device.Attributes(k)
	return &a, err
}

func (c *session) launch(q request) error {
	k, err := c.known(q)
	if err != nil {
		return err
	}
	if len(q.Args) > maxArgs {
		return device.Refuse(k.Signature().Name, "%d arguments", len(q.Args))
	}
	args, err := c.heap.unpack(k.Signature(), q.Args)
	if err != nil {
		return err
	}
	return c.Device.Launch(k, q.Launch, args...)
}
