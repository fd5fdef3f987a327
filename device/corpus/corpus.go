// Package corpus holds kernels that prove a device: right ones, written as for
// a GPU and compared with float64 (Check), and wrong ones with one planted bug
// each beside their right twins (Bugs). The simulator must compute the former
// as a GPU does, and find the latter at their lines.
package corpus

import (
	"embed"
	"fmt"
	"path"

	"flashlab/device"
)

//go:embed kernels/*.cu bugs/*.cu
var files embed.FS

// Text is a .cu file of the corpus: "kernels/gemm.cu", "bugs/races.cu".
func Text(file string) (string, error) {
	text, err := files.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("the corpus has no file %s", file)
	}
	return string(text), nil
}

// Files lists every .cu file of the corpus.
func Files() []string {
	var all []string
	for _, dir := range []string{"kernels", "bugs"} {
		entries, _ := files.ReadDir(dir) // embedded: it is there
		for _, e := range entries {
			all = append(all, dir+"/"+e.Name())
		}
	}
	return all
}

// loader compiles each file once for a device.
type loader struct {
	device  device.Device
	modules map[string]device.Module
}

func newLoader(d device.Device) *loader {
	return &loader{d, map[string]device.Module{}}
}

func (l *loader) kernel(file, name string) (device.Kernel, error) {
	m, ok := l.modules[file]
	if !ok {
		text, err := Text(file)
		if err != nil {
			return nil, err
		}
		if m, err = l.device.Compile(device.Source{Name: path.Base(file), Text: text}); err != nil {
			return nil, err
		}
		l.modules[file] = m
	}
	return m.Kernel(name)
}
