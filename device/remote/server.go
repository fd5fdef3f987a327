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
	// Find gives the file that a client names, with its text, or refuses it. A client sends no text.
	Find func(named device.Source) (device.Source, error)
	// Cubin compiles for a GPU that the client itself drives.
	Cubin func(src device.Source, arch string) ([]byte, error)
	// Values makes n numbers that the client has put to a place on the device without seeing
	// them; nil where there are none.
	Values func(to device.Memory, v Values, n int) ([]float32, error)
	// Start, if given, may refuse to start a kernel.
	Start func(kernel string) error
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
		r, data, err := c.answer(request)
		answer := protocol.New(protocol.OK, r...)
		if err != nil {
			answer, data = protocol.New(protocol.Failed, protocol.NewFailure(err)), nil
		}
		if err := protocol.Send(conn, answer, data); err != nil {
			return fmt.Errorf("device server: %w", err)
		}
	}
}

// parts are what an answer consists of; the bytes of a copy come after them.
type parts []any

// answer does what was asked. If the device behind it panics, that becomes an error
// for the client, and the owner carries on.
func (c *session) answer(request protocol.Message) (r parts, data []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("request %d: the device failed: %v", request.Op(), p)
		}
	}()
	if c.Lock != nil {
		c.Lock.Lock()
		defer c.Lock.Unlock()
	}
	op := request.Op()
	if op == protocol.OpCubin {
		return c.cubin(request)
	}
	if c.Device == nil {
		return nil, nil, errors.New("this side only compiles")
	}
	switch op {
	case protocol.OpInfo, protocol.OpSync:
		if err = request.Decode(); err == nil && op == protocol.OpSync {
			return nil, nil, c.Device.Sync()
		}
		return parts{c.Device.Info()}, nil, err
	case protocol.OpAllocate:
		r, err = c.malloc(request)
	case protocol.OpFree, protocol.OpCopyIn, protocol.OpCopyOut, protocol.OpSet, protocol.OpPoison:
		data, err = c.touch(request)
	case protocol.OpCompile:
		r, err = c.compile(request)
	case protocol.OpKernel:
		r, err = c.kernel(request)
	case protocol.OpGive:
		err = c.give(request)
	case protocol.OpLaunch:
		err = c.launch(request)
	case protocol.OpAttributes:
		r, err = c.attributes(request)
	default:
		err = fmt.Errorf("unknown request %d", op)
	}
	return r, data, err
}

func (c *session) malloc(request protocol.Message) (parts, error) {
	var m device.Memory
	if err := request.Decode(&m); err != nil {
		return nil, err
	}
	name := protocol.Cut(m.Name, 100)
	if m.Bytes <= 0 {
		return nil, fmt.Errorf("alloc %s: %d bytes: want at least 1", name, m.Bytes)
	}
	if len(c.heap.blocks) >= maxAllocs {
		return nil, fmt.Errorf("alloc %s: %d buffers are allocated: %w", name, maxAllocs, device.ErrOutOfMemory)
	}
	m, err := c.Device.Malloc(name, m.Bytes)
	if err != nil {
		return nil, err
	}
	c.heap.add(m)
	return parts{m.Addr}, nil
}

// touch frees a buffer, or copies, sets or poisons a checked part of one.
func (c *session) touch(request protocol.Message) ([]byte, error) {
	var (
		m       device.Memory
		value   byte
		payload protocol.Data
	)
	wanted, op := parts{&m}, request.Op()
	switch op {
	case protocol.OpSet:
		wanted = append(wanted, &value)
	case protocol.OpCopyIn:
		wanted = append(wanted, &payload)
	}
	err := request.Decode(wanted...)
	if err != nil {
		return nil, err
	}
	if op == protocol.OpFree {
		if m, err = c.heap.take(m); err != nil {
			return nil, err
		}
		return nil, c.Device.Free(m)
	}
	if m, err = c.heap.part(words[op], m); err != nil {
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
		return nil, c.Device.Set(m, value)
	}
	return nil, c.Device.Poison(m)
}

// words names what is done with memory.
var words = map[protocol.Op]string{protocol.OpCopyIn: "copyin", protocol.OpCopyOut: "copyout", protocol.OpSet: "set", protocol.OpPoison: "poison"}
