package remote

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"flashlab/device"
	"flashlab/device/protocol"
)

// Bounds on what one client may have the server remember.
const (
	maxModules = 256
	maxKernels = 4096
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
		request, err := protocol.ReceiveRequest(conn)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("device server: %w", err)
		}
		var answer protocol.Message
		body, data, err := c.answer(request)
		if err != nil {
			answer = protocol.New(protocol.Failed, &protocol.Failure{Err: err})
		} else {
			answer = protocol.New(protocol.OK, body...)
		}
		if err := protocol.Send(conn, answer, data); err != nil {
			return fmt.Errorf("device server: %w", err)
		}
	}
}

type bodies []protocol.Body

// answer does what was asked. A panic of the device behind it is the client's
// error, not the end of its owner.
func (c *session) answer(request protocol.Message) (r bodies, data []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, data, err = nil, nil, fmt.Errorf("request %d: the device failed: %v", request.Op(), p)
		}
	}()
	if c.Lock != nil {
		c.Lock.Lock()
		defer c.Lock.Unlock()
	}
	if request.Op() == protocol.OpCubin {
		data, err = c.cubin(request)
		return nil, data, err
	}
	if c.Device == nil {
		return nil, nil, errors.New("this side only compiles")
	}
	switch request.Op() {
	case protocol.OpInfo:
		info := protocol.Info(c.Device.Info())
		return bodies{&info}, nil, request.Decode()
	case protocol.OpSync:
		if err := request.Decode(); err != nil {
			return nil, nil, err
		}
		return nil, nil, c.Device.Sync()
	case protocol.OpAllocate:
		r, err = c.malloc(request)
	case protocol.OpFree, protocol.OpCopyIn, protocol.OpCopyOut, protocol.OpSet, protocol.OpPoison:
		data, err = c.touch(request)
	case protocol.OpCompile:
		r, err = c.compile(request)
	case protocol.OpKernel:
		r, err = c.kernel(request)
	case protocol.OpLaunch:
		err = c.launch(request)
	case protocol.OpAttributes:
		r, err = c.attributes(request)
	default:
		err = fmt.Errorf("unknown request %d", request.Op())
	}
	return r, data, err
}

func (c *session) malloc(request protocol.Message) (bodies, error) {
	var want protocol.Memory
	if err := request.Decode(&want); err != nil {
		return nil, err
	}
	name := protocol.Cut(want.Name, 100)
	if want.Bytes <= 0 {
		return nil, fmt.Errorf("alloc %s: %d bytes: want at least 1", name, want.Bytes)
	}
	if len(c.heap.blocks) >= maxAllocs {
		return nil, fmt.Errorf("alloc %s: %d buffers are allocated: %w", name, maxAllocs, device.ErrOutOfMemory)
	}
	m, err := c.Device.Malloc(name, want.Bytes)
	if err != nil {
		return nil, err
	}
	c.heap.add(m)
	return bodies{(*protocol.ID)(&m.Addr)}, nil
}

// touch frees a buffer, or copies, sets or poisons a checked part of one.
func (c *session) touch(request protocol.Message) ([]byte, error) {
	var (
		fill    protocol.Fill
		payload protocol.Data
		wanted  = bodies{&fill.Memory}
		op      = request.Op()
	)
	switch op {
	case protocol.OpSet:
		wanted = bodies{&fill}
	case protocol.OpCopyIn:
		wanted = append(wanted, &payload)
	}
	if err := request.Decode(wanted...); err != nil {
		return nil, err
	}
	if op == protocol.OpFree {
		m, err := c.heap.take(fill.Memory)
		if err != nil {
			return nil, err
		}
		return nil, c.Device.Free(m)
	}
	m, err := c.heap.part(words[op], fill.Memory)
	if err != nil {
		return nil, err
	}
	switch op {
	case protocol.OpCopyIn:
		if int64(len(payload)) != m.Bytes {
			return nil, fmt.Errorf("copy to %s: got %d bytes, want %d", m.Name, len(payload), m.Bytes)
		}
		return nil, c.Device.CopyIn(m, payload)
	case protocol.OpCopyOut:
		if m.Bytes > protocol.Chunk {
			return nil, fmt.Errorf("copy from %s: %d bytes in one message", m.Name, m.Bytes)
		}
		data := make([]byte, m.Bytes)
		return data, c.Device.CopyOut(data, m)
	case protocol.OpSet:
		return nil, c.Device.Set(m, fill.Value)
	}
	return nil, c.Device.Poison(m)
}

// words call what is done with memory by its name.
var words = map[protocol.Op]string{protocol.OpCopyIn: "copyin", protocol.OpCopyOut: "copyout", protocol.OpSet: "set", protocol.OpPoison: "poison"}
