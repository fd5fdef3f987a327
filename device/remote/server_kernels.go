package remote

import (
	"errors"
	"fmt"

	"flashlab/device"
	"flashlab/device/protocol"
)

// source finds the file that a request names, and reads whatever follows in the request.
func (c *session) source(request protocol.Message, more ...any) (src device.Source, err error) {
	var named protocol.Named
	if err := request.Decode(append(parts{&named}, more...)...); err != nil {
		return src, err
	}
	if c.Find == nil {
		return src, fmt.Errorf("compile %s: this side has no kernels", protocol.Cut(named.Name, 100))
	}
	return c.Find(named.Source())
}

// cubin compiles, and tells the kernels of what was compiled: the client does not have its text.
func (c *session) cubin(request protocol.Message) (parts, []byte, error) {
	if c.Cubin == nil {
		return nil, nil, errors.New("compile: this side has no compiler for a GPU")
	}
	var arch string
	src, err := c.source(request, &arch)
	if err != nil {
		return nil, nil, err
	}
	code, err := c.Cubin(src, arch)
	return parts{src.Scan()}, code, err
}

func (c *session) compile(request protocol.Message) (parts, error) {
	src, err := c.source(request)
	if err != nil {
		return nil, err
	}
	if len(c.modules) >= maxModules {
		return nil, fmt.Errorf("compile %s: %d modules are loaded already: compile once, in New", protocol.Cut(src.Name, 100), maxModules)
	}
	m, err := c.Device.Compile(src)
	if err != nil {
		return nil, err
	}
	c.modules = append(c.modules, m)
	return parts{len(c.modules)}, nil // from 1: 0 is nothing
}

func (c *session) kernel(request protocol.Message) (parts, error) {
	var id uint64
	var name string
	if err := request.Decode(&id, &name); err != nil {
		return nil, err
	}
	if id < 1 || id > uint64(len(c.modules)) {
		return nil, errors.New("kernel: there is no such module")
	}
	if len(c.kernels) >= maxKernels {
		return nil, fmt.Errorf("kernel %s: %d kernels were looked up already: look up once, in New", protocol.Cut(name, 100), maxKernels)
	}
	k, err := c.modules[id-1].Kernel(protocol.Cut(name, 200))
	if err != nil {
		return nil, err
	}
	c.kernels = append(c.kernels, k)
	return parts{len(c.kernels), k.Signature()}, nil
}

// known is a kernel that was looked up before.
func (c *session) known(id uint64) (device.Kernel, error) {
	if id < 1 || id > uint64(len(c.kernels)) {
		return nil, device.Refuse("", "there is no such kernel")
	}
	return c.kernels[id-1], nil
}

func (c *session) attributes(request protocol.Message) (parts, error) {
	var id uint64
	if err := request.Decode(&id); err != nil {
		return nil, err
	}
	k, err := c.known(id)
	if err != nil {
		return nil, err
	}
	a, err := c.Device.Attributes(k)
	return parts{a}, err
}

// launch checks a request, and passes it on as it is to a device that speaks the same
// protocol.
func (c *session) launch(request protocol.Message) error {
	var l protocol.Launch
	if err := request.Decode(&l); err != nil {
		return err
	}
	k, err := c.known(l.Kernel)
	if err != nil {
		return err
	}
	sig := k.Signature()
	full, err := device.CheckLaunch(sig.Name, l.Shape.Launch(), c.Device.Info())
	if err != nil {
		return err
	}
	if protocol.ShapeOf(full) != l.Shape { // the client has filled in what was left out
		return device.Refuse(sig.Name, "a grid or block with a size of 0")
	}
	args, err := c.heap.check(sig, l.Args)
	if err != nil {
		return err
	}
	if c.Start != nil {
		if err := c.Start(sig.Name); err != nil {
			return fmt.Errorf("launch %s: %w", sig.Name, err)
		}
	}
	if direct, ok := k.(protocol.Starter); ok {
		return direct.Start(request)
	}
	return c.Device.Launch(k, full, args...)
}
