package remote

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"flashlab/device"
	"flashlab/device/replay"
	"flashlab/internal/frame"
)

// client is a device.Device at the other end of a connection.
type client struct {
	mu   sync.Mutex // a request and its answer belong together
	conn io.ReadWriter
	info device.Info
	lost error
	// A graph is a list of requests here, and each goes over the socket again:
	// nothing is gained, but the same code runs everywhere.
	graphs replay.Recorder
}

// Dial greets the server at the other end of conn and returns its device.
// Close closes conn, if it can be closed.
func Dial(conn io.ReadWriter) (device.Device, error) {
	c := &client{conn: conn}
	r, _, err := c.ask(request{Op: opInfo}, nil)
	if err != nil {
		return nil, fmt.Errorf("open the device: %w", err)
	}
	if r.Info == nil {
		return nil, errors.New("open the device: the other side does not say what it is")
	}
	c.info = *r.Info
	return c, nil
}

// Cubin asks the other side to compile for a GPU, where nvcc and its cache are.
func Cubin(conn io.ReadWriter) func(src device.Source, arch string) ([]byte, error) {
	c := &client{conn: conn}
	return func(src device.Source, arch string) ([]byte, error) {
		_, data, err := c.ask(request{Op: opCubin, Source: &src, Arch: arch}, nil)
		return data, err
	}
}

// ask sends a request and reads the answer.
func (c *client) ask(q request, payload []byte) (response, []byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != nil {
		return response{}, nil, c.lost
	}
	var r response
	err := frame.Write(c.conn, q, payload)
	var data []byte
	if err == nil {
		data, err = frame.Read(c.conn, &r)
	}
	if err != nil {
		c.lost = fmt.Errorf("%s: the connection to the device is lost: %w", q.Op, err)
		return r, nil, c.lost
	}
	return r, data, r.Error.toError()
}

func (c *client) Info() device.Info { return c.info }

func (c *client) Malloc(name string, bytes int64) (device.Memory, error) {
	if err := c.graphs.Refuse("malloc " + name); err != nil {
		return device.Memory{}, err
	}
	r, _, err := c.ask(request{Op: opMalloc, Name: name, Bytes: bytes}, nil)
	return device.Memory{Addr: r.Addr, Bytes: bytes, Name: name}, err
}

func (c *client) Free(m device.Memory) error {
	if err := c.graphs.Refuse("free " + m.Name); err != nil {
		return err
	}
	return c.simple(opFree, m, 0)
}

func (c *client) Set(m device.Memory, value byte) error {
	return c.graphs.Do(func() error { return c.simple(opSet, m, value) })
}

func (c *client) Poison(m device.Memory) error {
	return c.graphs.Do(func() error { return c.simple(opPoison, m, 0) })
}

func (c *client) simple(op string, m device.Memory, value byte) error {
	_, _, err := c.ask(request{Op: op, Addr: m.Addr, Bytes: m.Bytes, Name: m.Name, Value: value}, nil)
	return err
}

func (c *client) CopyIn(dst device.Memory, src []byte) error {
	if err := c.graphs.Refuse("copy to " + dst.Name); err != nil {
		return err
	}
	if int64(len(src)) != dst.Bytes {
		return fmt.Errorf("copy to %s: got %d bytes, want %d", dst.Name, len(src), dst.Bytes)
	}
	for from := 0; ; from += chunk {
		part := src[from:min(from+chunk, len(src))]
		_, _, err := c.ask(request{Op: opCopyIn, Name: dst.Name, Addr: dst.Addr + uint64(from), Bytes: int64(len(part))}, part)
		if err != nil || from+len(part) >= len(src) {
			return err
		}
	}
}

func (c *client) CopyOut(dst []byte, src device.Memory) error {
	if err := c.graphs.Refuse("copy from " + src.Name); err != nil {
		return err
	}
	if int64(len(dst)) != src.Bytes {
		return fmt.Errorf("copy from %s: got room for %d bytes, want %d", src.Name, len(dst), src.Bytes)
	}
	for from := 0; ; from += chunk {
		part := dst[from:min(from+chunk, len(dst))]
		_, data, err := c.ask(request{Op: opCopyOut, Name: src.Name, Addr: src.Addr + uint64(from), Bytes: int64(len(part))}, nil)
		if err == nil && len(data) != len(part) {
			err = fmt.Errorf("copy from %s: got %d bytes, want %d", src.Name, len(data), len(part))
		}
		if err != nil {
			return err
		}
		copy(part, data)
		if from+len(part) >= len(dst) {
			return nil
		}
	}
}

func (c *client) Sync() error {
	if err := c.graphs.Refuse("sync"); err != nil {
		return err
	}
	_, _, err := c.ask(request{Op: opSync}, nil)
	return err
}

// NewEvent: time that passed a socket measures the socket.
func (c *client) NewEvent() (device.Event, error) { return nil, device.ErrNoClock }

func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost == nil {
		c.lost = errors.New("the device is closed")
	}
	if closer, ok := c.conn.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}
