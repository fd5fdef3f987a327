package sim

import (
	"errors"
	"fmt"
	"time"

	"flashlab/device"
	"flashlab/device/protocol"
)

// module is a loaded shared object.
type module struct {
	device     *Device
	id         uint64
	source     device.Source
	path       string
	signatures []device.Signature
	about      built
	places     *places // built at the first finding
	sources    map[string]source
	code       *code // built at the first count of operations
	byAddress  *bool // whether it jumps by address, once that was looked for
}

func (m *module) Kernel(name string) (device.Kernel, error) {
	if err := m.about.refusal(name); err != nil {
		return nil, err
	}
	sig, err := device.FindKernel(m.source.Name, m.signatures, name)
	if err != nil {
		return nil, err
	}
	var id uint64
	var kinds string
	if err := m.device.ask(protocol.New(protocol.OpKernel, m.id, name), nil, &id, &kinds); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	return &kernel{m, id, sig.Compiled(kinds)}, nil
}

type kernel struct {
	module    *module
	id        uint64
	signature device.Signature
}

var _ protocol.Starter = (*kernel)(nil)

func (k *kernel) Signature() device.Signature { return k.signature }

// own refuses kernels of other devices.
func (d *Device) own(k device.Kernel) (*kernel, error) {
	mine, ok := k.(*kernel)
	if !ok || mine == nil || mine.module.device != d {
		return nil, device.Refuse("a kernel", "it was not compiled by this device")
	}
	return mine, nil
}

// Launch runs a kernel to its end, or keeps it for a graph that is recorded.
func (d *Device) Launch(k device.Kernel, l device.Launch, args ...any) error {
	mine, err := d.own(k)
	if err != nil {
		return err
	}
	request, err := protocol.NewLaunch(mine.id, mine.signature, l, d.Info(), args)
	if err != nil {
		return err
	}
	return mine.Start(request)
}

// Start is Launch for a request that was checked.
func (k *kernel) Start(request protocol.Message) error {
	request.Readdress(k.id)
	d := k.module.device
	return d.graphs.Do(func() error { return d.run(k.signature.Name, request) })
}

// run sends a checked launch.
func (d *Device) run(name string, request protocol.Message) error {
	// The simulator stops a slow kernel itself, and says where it was; the
	// process is killed only if that fails.
	answer, err := d.process.call(d.options.Timeout+5*time.Second, request, nil)
	switch {
	case errors.Is(err, errDied):
		return &device.FaultError{Kernel: name, Reason: err.Error()}
	case err != nil:
		return err
	case answer.Status() == protocol.Stopped:
		return &device.FaultError{Kernel: name, Reason: d.whyStopped(name)}
	case answer.Status() != protocol.OK:
		return device.Refuse(name, "%s", answer.Body())
	}
	return nil
}

func (d *Device) whyStopped(kernel string) string {
	r, err := d.Report()
	if err != nil {
		return err.Error()
	}
	for _, f := range r.Findings {
		if f.Fatal && f.Kernel == kernel {
			return f.Headline()
		}
	}
	return "see the report"
}

// Record keeps what work queues; the graph does it again, command by command.
func (d *Device) Record(work func(q device.Queue) error) (device.Graph, error) {
	return d.graphs.Record(device.QueueOf(d), work)
}

// Attributes knows shared memory only.
func (d *Device) Attributes(k device.Kernel) (device.Attributes, error) {
	mine, err := d.own(k)
	if err != nil {
		return device.Attributes{}, err
	}
	var a device.Attributes
	if err := d.ask(protocol.New(protocol.OpAttributes, mine.id), nil, &a); err != nil {
		return device.Attributes{}, fmt.Errorf("attributes of %s: %w", mine.signature.Name, err)
	}
	return a, nil
}
