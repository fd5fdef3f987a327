// Package corpus holds kernels that prove a device: right ones, written as for
// a GPU and compared with float64 (Check), and wrong ones with one planted bug
// each, which have right twins (Bugs). The simulator must compute the former
// as a GPU does, and find the latter at their lines.
package corpus

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"flashlab/device"
)

//go:embed kernels/*.cu bugs/*.cu bugs/*.cuh
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
			if path.Ext(e.Name()) == ".cu" {
				all = append(all, dir+"/"+e.Name())
			}
		}
	}
	return all
}

// header is what the files of Hopper's bugs include.
const header = "hopper_bugs.cuh"

// Source is a .cu file of the corpus, ready to be compiled: with its planted bugs, or without those
// that are between #ifdef BUG and #endif.
func Source(file string, bugs bool) (device.Source, error) {
	text, err := Text(file)
	if err != nil {
		return device.Source{}, err
	}
	s := device.Source{Name: path.Base(file), Text: text}
	if bugs {
		s.Defines = map[string]string{"BUG": "1"}
	}
	if strings.Contains(text, header) {
		if text, err = Text("bugs/" + header); err != nil {
			return device.Source{}, err
		}
		s.Files = map[string]string{header: text}
	}
	return s, nil
}

// loader compiles each file once for a device, with its bugs or without.
type loader struct {
	device  device.Device
	bugs    bool
	modules map[string]device.Module
}

func newLoader(d device.Device, bugs bool) *loader {
	return &loader{d, bugs, map[string]device.Module{}}
}

func (l *loader) kernel(file, name string) (device.Kernel, error) {
	m, ok := l.modules[file]
	if !ok {
		source, err := Source(file, l.bugs)
		if err != nil {
			return nil, err
		}
		if m, err = l.device.Compile(source); err != nil {
			return nil, err
		}
		l.modules[file] = m
	}
	return m.Kernel(name)
}
