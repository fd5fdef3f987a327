package remote

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"flashlab/device"
	"flashlab/device/graphs"
	"flashlab/device/protocol"
)

// client is a device.Device at the other end of a connection.
type client struct {
	mu   sync.Mutex // a request and its answer belong together
	conn io.ReadWriter
	info device.Info
	lost error
	// A graph is a list of requests here, and each goes over the socket again:
	// nothing is gained, but the same code runs everywhere.
	graphs graphs.Recorder
}

// Dial greets the server at the other end of conn and returns its device.
// Close closes conn, if it can be closed.
func Dial(conn io.ReadWriter) (device.Device, error) {
	c := &client{conn: conn}
	if err := c.ask(protocol.New(protocol.OpInfo), nil, &c.info); err != nil {
		return nil, fmt.Errorf("open the device: %w", err)
	}
	return c, nil
}

// Cubin asks the other side to compile a file for a GPU, where its text, nvcc and its cache are. It tells which
// kernels of C linkage the text has, too.
func Cubin(conn io.ReadWriter) func(src device.Source, arch string) ([]byte, []device.Signature, error) {
	c := &client{conn: conn}
	return func(src device.Source, arch string) (code []byte, kernels []device.Signature, err error) {
		named, err := protocol.NewNamed(src)
		if err != nil {
			return nil, nil, err
		}
		var cubin protocol.Data
		err = c.ask(protocol.New(protocol.OpCubin, named, arch), nil, &kernels, &cubin)
		return cubin, kernels, err
	}
}

// ask sends a request, followed by the bytes of a copy, and reads the answer into what
// is wanted.
func (c *client) ask(request protocol.Message, data []byte, wanted ...any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != nil {
		return c.lost
	}
	if len(request) > protocol.MaxRequest {
		return fmt.Errorf("a request of %d bytes: %d are the most", len(request), protocol.MaxRequest)
	}
	var answer protocol.Message
	err := protocol.Send(c.conn, request, data)
	if err == nil {
		answer, err = protocol.Receive(c.conn)
	}
	if err != nil {
		c.lost = fmt.Errorf("the connection to the device is lost: %w", err)
		return c.lost
	}
	if answer.Status() == protocol.OK {
		return answer.Decode(wanted...)
	}
	var failure protocol.Failure
	if err := answer.Decode(&failure); err != nil {
		return err
	}
	return failure.Err()
}

func (c *client) Info() device.Info { return c.info }

func (c *client) Malloc(name string, bytes int64) (device.Memory, error) {
	if err := c.graphs.Refuse("malloc " + name); err != nil {
		return device.Memory{}, err
	}
	m := device.Memory{Bytes: bytes, Name: name}
	err := c.ask(protocol.New(protocol.OpAllocate, m), nil, &m.Addr)
	return m, err
}

func (c *client) Free(m device.Memory) error {
	if err := c.graphs.Refuse("free " + m.Name); err != nil {
		return err
	}
	return c.ask(protocol.New(protocol.OpFree, m), nil)
}

func (c *client) Set(m device.Memory, value byte) error {
	return c.graphs.Do(func() error { return c.ask(protocol.New(protocol.OpSet, m, value), nil) })
}

func (c *client) Poison(m device.Memory) error {
	return c.graphs.Do(func() error { return c.ask(protocol.New(protocol.OpPoison, m), nil) })
}

func (c *client) CopyIn(dst device.Memory, src []byte) error {
	if err := c.graphs.Refuse("copy to " + dst.Name); err != nil {
		return err
	}
	if int64(len(src)) != dst.Bytes {
		return fmt.Errorf("copy to %s: got %d bytes, want %d", dst.Name, len(src), dst.Bytes)
	}
	for part, data := range protocol.Parts(dst, src) {
		if err := c.ask(protocol.New(protocol.OpCopyIn, part), data); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) CopyOut(dst []byte, src device.Memory) error {
	if err := c.graphs.Refuse("copy from " + src.Name); err != nil {
		return err
	}
	if int64(len(dst)) != src.Bytes {
		return fmt.Errorf("copy from %s: got room for %d bytes, want %d", src.Name, len(dst), src.Bytes)
	}
	for part, data := range protocol.Parts(src, dst) {
		if err := c.ask(protocol.New(protocol.OpCopyOut, part), nil, protocol.Into(data)); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) Sync() error {
	if err := c.graphs.Refuse("sync"); err != nil {
		return err
	}
	return c.ask(protocol.New(protocol.OpSync), nil)
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
