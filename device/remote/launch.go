package remote

import (
	"errors"
	"fmt"

	"flashlab/device"
)

type module struct {
	client *client
	id     int
}

type kernel struct {
	client *client
	id     int
	sig    device.Signature
}

func (c *client) Compile(src device.Source) (device.Module, error) {
	if err := c.graphs.Refuse("compile " + src.Name); err != nil {
		return nil, err
	}
	r, _, err := c.ask(request{Op: opCompile, Source: &src}, nil)
	if err != nil {
		return nil, err
	}
	return &module{c, r.ID}, nil
}

func (m *module) Kernel(name string) (device.Kernel, error) {
	r, _, err := m.client.ask(request{Op: opKernel, ID: m.id, Name: name}, nil)
	if err != nil {
		return nil, err
	}
	if r.Signature == nil {
		return nil, fmt.Errorf("kernel %s: the other side does not say what it takes", name)
	}
	return &kernel{m.client, r.ID, *r.Signature}, nil
}

func (k *kernel) Signature() device.Signature { return k.sig }

// own refuses kernels of other devices.
func (c *client) own(k device.Kernel) (*kernel, error) {
	ours, ok := k.(*kernel)
	if !ok || ours == nil || ours.client != c {
		return nil, device.Refuse("", "the kernel is not of this device: it was never compiled, or by another one")
	}
	return ours, nil
}

// Launch checks the arguments here, where their Go types are known, and sends
// bare values.
func (c *client) Launch(k device.Kernel, l device.Launch, args ...any) error {
	ours, err := c.own(k)
	if err != nil {
		return err
	}
	// The server checks this, too; a graph wants to know now.
	if l, err = device.CheckLaunch(ours.sig.Name, l, c.info); err != nil {
		return err
	}
	values, err := device.Pack(ours.sig, args)
	if err != nil {
		return err
	}
	return c.graphs.Do(func() error {
		_, _, err := c.ask(request{Op: opLaunch, ID: ours.id, Launch: l, Args: values}, nil)
		return err
	})
}

// Record keeps requests.
func (c *client) Record(work func(q device.Queue) error) (device.Graph, error) {
	return c.graphs.Record(device.QueueOf(c), work)
}

// Attributes asks the other side.
func (c *client) Attributes(k device.Kernel) (device.Attributes, error) {
	ours, err := c.own(k)
	if err != nil {
		return device.Attributes{}, err
	}
	r, _, err := c.ask(request{Op: opAttributes, ID: ours.id}, nil)
	if err == nil && r.Attributes == nil {
		err = errors.New("attributes: the other side does not say")
	}
	if err != nil {
		return device.Attributes{}, err
	}
	return *r.Attributes, nil
}
