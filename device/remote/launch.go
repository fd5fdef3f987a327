package remote

import (
	"flashlab/device"
	"flashlab/device/protocol"
)

type module struct {
	client *client
	id     uint64
}

type kernel struct {
	client *client
	id     uint64
	sig    device.Signature
}

func (c *client) Compile(src device.Source) (device.Module, error) {
	if err := c.graphs.Refuse("compile " + src.Name); err != nil {
		return nil, err
	}
	named, err := protocol.NewNamed(src)
	if err != nil {
		return nil, err
	}
	m := &module{client: c}
	if err := c.ask(protocol.New(protocol.OpCompile, named), nil, &m.id); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *module) Kernel(name string) (device.Kernel, error) {
	k := &kernel{client: m.client}
	if err := m.client.ask(protocol.New(protocol.OpKernel, m.id, name), nil, &k.id, &k.sig); err != nil {
		return nil, err
	}
	return k, nil
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
	request, err := protocol.NewLaunch(ours.id, ours.sig, l, c.info, args)
	if err != nil {
		return err
	}
	return c.graphs.Do(func() error { return c.ask(request, nil) })
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
	var a device.Attributes
	err = c.ask(protocol.New(protocol.OpAttributes, ours.id), nil, &a)
	return a, err
}
