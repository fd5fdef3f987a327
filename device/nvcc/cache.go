package nvcc

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// hash names a list of texts; no two different lists share a name.
func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// cached returns the file of that key, made by build where it is not there
// yet. Two processes may do the same at once: each writes a whole file and
// renames it. A cache that cannot be written only costs time.
func cached(key string, build func() ([]byte, error)) ([]byte, error) {
	dir := filepath.Join(cacheDir(), "nvcc")
	path := filepath.Join(dir, key+".cubin")
	if data, err := os.ReadFile(path); err == nil && isCubin(data) {
		return data, nil
	}
	data, err := build()
	if err != nil {
		return nil, err
	}
	if !isCubin(data) {
		return nil, fmt.Errorf("nvcc wrote no machine code (%d bytes)", len(data))
	}
	_ = store(dir, path, data)
	return data, nil
}

// isCubin: a cubin is an ELF file.
func isCubin(data []byte) bool { return bytes.HasPrefix(data, []byte("\x7fELF")) }

// store writes a file whole.
func store(dir, path string, data []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	part, err := os.CreateTemp(dir, "part-")
	if err != nil {
		return err
	}
	_, err = part.Write(data)
	if closed := part.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		_ = os.Remove(part.Name())
	}
	return err
}

// cacheDir is FLASHLAB_CACHE, or out/cache in the checkout that the working
// directory belongs to, or else a folder in the user's cache.
func cacheDir() string {
	if dir := os.Getenv("FLASHLAB_CACHE"); dir != "" {
		return dir
	}
	if root := moduleRoot(); root != "" {
		return filepath.Join(root, "out", "cache")
	}
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "flashlab")
	}
	return filepath.Join(os.TempDir(), "flashlab-cache")
}

// moduleRoot walks up to the go.mod of flashlab.
func moduleRoot() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			first, _, _ := strings.Cut(string(text), "\n")
			if strings.TrimSpace(first) == "module flashlab" {
				return dir
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
