package backward

import (
	"errors"
	"testing"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
)

func inFloat16(it *Halves) kind[device.Float16] {
	return kind[device.Float16]{"Float16", "halves.go", device.ToFloat16, device.Float16.Float32, it.Float16, 4e-3}
}

func inBFloat16(it *Halves) kind[device.BFloat16] {
	return kind[device.BFloat16]{"BFloat16", "halves.go", device.ToBFloat16, device.BFloat16.Float32, it.BFloat16, 3e-2}
}

func newHalves(t *testing.T, d device.Device) *Halves {
	it, err := NewHalves(device.QueueOf(d))
	if errors.Is(err, attn.ErrNotImplemented) {
		t.Fatalf("%v: NewHalves in halves.go is still the stub (README.md says where to start)", err)
	}
	if err != nil {
		t.Fatalf("NewHalves failed:\n%v", err)
	}
	return it
}

func TestHalves(t *testing.T) {
	d := attntest.Device(t)
	it := newHalves(t, d)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			check(t, d, inFloat16(it), c.s, c.hint)
			check(t, d, inBFloat16(it), c.s, c.hint)
		})
	}
}

func TestHalvesTwice(t *testing.T) {
	d := attntest.Device(t)
	it := newHalves(t, d)
	twice(t, d, inFloat16(it))
}
