package nvcc

import (
	"testing"

	"flashlab/device"
	"flashlab/device/cubin"
	"flashlab/device/devicetest"
)

// compiled is a module that nothing can launch.
type compiled struct{ cubin.Table }

type signature device.Signature

func (s signature) Signature() device.Signature { return device.Signature(s) }

func (c compiled) Kernel(name string) (device.Kernel, error) {
	sig, _, _, err := c.Find(name)
	return signature(sig), err
}

// The part of every device's suite that needs none.
func TestNames(t *testing.T) {
	tk := toolkit(t)
	devicetest.Names(t, func(src device.Source) (device.Module, error) {
		code, err := tk.Compile(src, "sm_90")
		if err != nil {
			return nil, err
		}
		table, err := cubin.NewTable(src.Name, src.Scan(), code)
		return compiled{table}, err
	})
}
