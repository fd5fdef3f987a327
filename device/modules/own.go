// Package modules keeps one submission's compiled kernels apart from everybody's: a program can have
// thousands of kernels compiled, what it leaves should not stay, and nothing that one submission had
// compiled is handed to another.
package modules

import (
	"fmt"
	"os"

	"flashlab/device"
)

// Own is a folder for the compiled kernels of one submission.
type Own struct {
	Dir    string
	Bytes  int64                    // the most that it may hold
	Shared func(device.Source) bool // those that are kept for everybody: the course's
}

// New makes such a folder in base, which holds everybody's.
func New(base string, bytes int64, shared func(device.Source) bool) (*Own, error) {
	if err := os.MkdirAll(base, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(base, ".own-*")
	if err != nil {
		return nil, err
	}
	return &Own{Dir: dir, Bytes: bytes, Shared: shared}, os.Chmod(dir, 0o755) // in a sandbox the compiler is another user
}

// Remove removes it, with all that it holds.
func (o *Own) Remove() {
	if o != nil {
		_ = os.RemoveAll(o.Dir)
	}
}

// Place is where what is compiled of a source belongs; common without an Own, and for the course's.
func (o *Own) Place(src device.Source, common string) (string, error) {
	if o == nil || o.Shared != nil && o.Shared(src) {
		return common, nil
	}
	var held int64
	entries, err := os.ReadDir(o.Dir)
	if err != nil {
		return "", fmt.Errorf("compile %s: %w", src.Name, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			held += info.Size()
		}
	}
	if held > o.Bytes {
		return "", fmt.Errorf("compile %s: the kernels compiled so far take %d MB, and %d are the most: compile once, in New", src.Name, held>>20, o.Bytes>>20)
	}
	return o.Dir, nil
}
