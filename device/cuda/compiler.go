//go:build cuda

package cuda

import (
	"flashlab/device"
	"flashlab/device/nvcc"
)

// compiler is the Compile to use, and the version of its toolkit where known.
func (o Options) compiler() (func(device.Source, string) ([]byte, []device.Signature, error), string) {
	if o.Compile != nil {
		return o.Compile, ""
	}
	tk, err := nvcc.Find()
	if err != nil {
		// A program that compiles nothing runs all the same.
		return func(device.Source, string) ([]byte, []device.Signature, error) { return nil, nil, err }, ""
	}
	return func(src device.Source, arch string) ([]byte, []device.Signature, error) {
		whole, err := src.Whole()
		if err != nil {
			return nil, nil, err
		}
		code, err := tk.Compile(whole, arch)
		return code, whole.Scan(), err
	}, tk.Version
}
