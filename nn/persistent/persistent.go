// Package persistent has what kernels have in common that live through a whole decoding step: nn/gpt2's and
// nn/half/decoder's.
package persistent

import (
	"embed"
	"fmt"
	"io/fs"

	"flashlab/device"
)

//go:embed *.cuh
var shared embed.FS

// Source is a kernel's text: a file of a folder, with the headers beside it and those that all have.
func Source(folder fs.FS, name string, defines map[string]string) (device.Source, error) {
	s := device.Source{Name: name, Defines: defines, Files: map[string]string{}}
	text, err := fs.ReadFile(folder, name)
	if err != nil {
		return s, err
	}
	s.Text = string(text)
	for _, from := range []fs.FS{shared, folder} {
		headers, err := fs.Glob(from, "*.cuh")
		if err != nil {
			return s, err
		}
		for _, header := range headers {
			text, err := fs.ReadFile(from, header)
			if err != nil {
				return s, err
			}
			if _, twice := s.Files[header]; twice {
				return s, fmt.Errorf("%s: there are two files %s", name, header)
			}
			s.Files[header] = string(text)
		}
	}
	return s, nil
}

// CopiesInBulk tells whether a device has cp.async.bulk.
func CopiesInBulk(info device.Info) bool {
	if info.Kind == device.Sim {
		return true
	}
	var arch int
	_, err := fmt.Sscanf(info.Arch, "sm_%d", &arch)
	return err == nil && arch >= 90
}
