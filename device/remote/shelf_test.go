package remote

import (
	"fmt"

	"flashlab/device"
)

// Shelf has the texts of a test's sources. It is for the owner of a device: clients name files.
type Shelf map[string]device.Source

// Find takes a file off the shelf.
func (s Shelf) Find(named device.Source) (device.Source, error) {
	src, ok := s[named.Name]
	if !ok {
		return src, fmt.Errorf("compile %s: it is not on the shelf", named.Name)
	}
	src.Defines, src.Kernels = named.Defines, named.Kernels
	return src, nil
}

// Shelved is a client that puts a source on the shelf before it asks for it by its name.
type Shelved struct {
	device.Device
	Shelf
}

// Compile asks for the name alone.
func (d Shelved) Compile(src device.Source) (device.Module, error) {
	if src.Name == "" {
		src.Name = "kernels.cu"
	}
	d.Shelf[src.Name] = src
	src.Text, src.Files = "", nil
	return d.Device.Compile(src)
}
