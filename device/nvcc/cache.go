package nvcc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"flashlab/internal/cache"
)

// cached returns the cubin of that key in dir, made by build where it is not there yet. Two
// processes may do the same at once: each writes a whole file. A cache that cannot be used, or none
// (""), only costs time.
func cached(dir, key string, build func() ([]byte, error)) ([]byte, error) {
	path := ""
	if dir != "" {
		path = filepath.Join(dir, key+".cubin")
		if data, err := os.ReadFile(path); err == nil && isCubin(data) {
			return data, nil
		}
	}
	data, err := build()
	if err != nil {
		return nil, err
	}
	if !isCubin(data) {
		return nil, fmt.Errorf("nvcc wrote no machine code (%d bytes)", len(data))
	}
	if path != "" {
		_ = cache.WriteFile(path, data, 0o644)
	}
	return data, nil
}

// SharedDir is the folder of cubins that all share; "" where none can be.
func SharedDir() string {
	dir, err := cache.Dir()
	if err != nil {
		return ""
	}
	dir = filepath.Join(dir, "nvcc")
	if os.MkdirAll(dir, 0o755) != nil {
		return ""
	}
	return dir
}

// isCubin: a cubin is an ELF file.
func isCubin(data []byte) bool { return bytes.HasPrefix(data, []byte("\x7fELF")) }
