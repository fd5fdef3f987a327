package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"flashlab/device"
)

// module is a loaded shared object.
type module struct {
	device     *Device
	id         int
	source     device.Source
	path       string
	signatures []device.Signature
	places     *places // built at the first finding
	code       *code   // built at the first count of operations
	byAddress  *bool   // whether it jumps by address, once that was looked for
}

func (m *module) Kernel(name string) (device.Kernel, error) {
	sig, err := device.FindKernel(m.source.Name, m.signatures, name)
	if err != nil {
		return nil, err
	}
	return &kernel{m, sig}, nil
}

type kernel struct {
	module    *module
	signature device.Signature
}

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
	name := mine.signature.Name
	l, err = device.CheckLaunch(name, l, d.Info())
	if err != nil {
		return err
	}
	values, err := device.Pack(mine.signature, args)
	if err != nil {
		return err
	}
	body := message(nil).u32(mine.module.id).text(name)
	for _, n := range []int{l.Grid.X, l.Grid.Y, l.Grid.Z, l.Block.X, l.Block.Y, l.Block.Z} {
		body = body.u32(n)
	}
	body = body.u64(uint64(l.Shared)).u32(len(values))
	for _, v := range values {
		body = body.u32(v.Size).u64(v.Bits)
	}
	return d.graphs.Do(func() error { return d.run(name, body) })
}

// run sends a checked launch.
func (d *Device) run(name string, body message) error {
	// The simulator stops a slow kernel itself, and says where it was; the
	// process is killed only if that fails.
	status, answer, err := d.process.call(d.options.Timeout+5*time.Second, opLaunch, body)
	switch {
	case errors.Is(err, errDied):
		return &device.FaultError{Kernel: name, Reason: err.Error()}
	case err != nil:
		return err
	case status == statusRefused:
		return device.Refuse(name, "%s", answer)
	case status == statusStopped:
		return &device.FaultError{Kernel: name, Reason: d.whyStopped(name)}
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

// Attributes knows shared memory only: here kernels are code of this machine's
// CPU, whose registers say nothing of a GPU's.
func (d *Device) Attributes(k device.Kernel) (device.Attributes, error) {
	mine, err := d.own(k)
	if err != nil {
		return device.Attributes{}, err
	}
	answer, err := d.quick(opAttributes, message(nil).u32(mine.module.id).text(mine.signature.Name))
	if err != nil {
		return device.Attributes{}, fmt.Errorf("attributes of %s: %w", mine.signature.Name, err)
	}
	return device.Attributes{
		Registers: device.Unknown, LocalBytes: device.Unknown, MaxThreads: maxThreads,
		SharedBytes: int(binary.LittleEndian.Uint64(answer)),
	}, nil
}
