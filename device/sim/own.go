package sim

import (
	"fmt"
	"os"
	"path/filepath"

	"flashlab/device"
)

// Own is a folder for the modules of one submission: a program can have thousands of
// kernels compiled, and what it leaves should not stay.
type Own struct {
	Dir    string                   // in the cache's file system
	Bytes  int64                    // the most that it may hold
	Shared func(device.Source) bool // those that are kept for everybody: the course's
}

// modulesOf is where the module of a source belongs.
func (d *Device) modulesOf(src device.Source) (string, error) {
	own := d.options.Own
	if own == nil || own.Shared(src) {
		return filepath.Join(d.cacheDir, "modules"), nil
	}
	var held int64
	entries, err := os.ReadDir(own.Dir)
	if err != nil {
		return "", fmt.Errorf("compile %s: %w", src.Name, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			held += info.Size()
		}
	}
	if held > own.Bytes {
		return "", fmt.Errorf("compile %s: the kernels compiled so far take %d MB, and %d are the most: compile once, in New", src.Name, held>>20, own.Bytes>>20)
	}
	return own.Dir, nil
}
