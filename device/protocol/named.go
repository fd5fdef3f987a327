package protocol

import (
	"fmt"

	"flashlab/device"
)

// Named is a file to compile, as a request has it: no message has a place for its text, nor for what it
// includes. The owner of the device has that.
type Named struct {
	Folder, Name string
	Defines      map[string]string
	Kernels      []string
}

// NewNamed is what of a source travels; one with a text of its own is refused.
func NewNamed(src device.Source) (Named, error) {
	if src.Text != "" || len(src.Files) > 0 {
		return Named{}, fmt.Errorf("compile %s: %w", src.Name, device.ErrText)
	}
	return Named{src.Folder, src.Name, src.Defines, src.Kernels}, nil
}

// Source is what was asked for.
func (n Named) Source() device.Source {
	return device.Source{Folder: n.Folder, Name: n.Name, Defines: n.Defines, Kernels: n.Kernels}
}
