// Package cache keeps what is slow to make: compiled simulators, kernels and
// workers, under names that say all that went into them.
package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"flashlab/internal/repo"
)

// Dir is where the cache lives: FLASHLAB_CACHE, or out/cache in the tree.
func Dir() (string, error) {
	dir := os.Getenv("FLASHLAB_CACHE")
	if dir == "" {
		root, err := repo.Root()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, "out", "cache")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return filepath.Abs(dir)
}

// Explain says what to do where the cache is another user's: who types sudo once has a cache of root's.
func Explain(dir string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return fmt.Errorf("%w: the cache %s is another user's: give it to yours (sudo chown -R \"$(id -un)\" out), or name another folder in FLASHLAB_CACHE", err, dir)
}

// Key names content: equal parts, equal key.
func Key(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// WriteFile writes a file whole or not at all: readers never see a part, and
// two writers of the same name do not meet.
func WriteFile(name string, data []byte, mode os.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // nothing left to remove once renamed
	if _, err := temp.Write(data); err != nil {
		temp.Close()
		return err
	}
	if err := temp.Chmod(mode); err != nil {
		temp.Close()
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), name)
}

// Once lets one process at a time make something slow, so that a dozen test
// binaries that start together do not all build the same simulator. make is
// called under the lock, and should look first whether the work is done.
// Without working locks everyone makes it: slower, not wrong.
func Once(dir, name string, make func() error) error {
	lock, err := os.OpenFile(filepath.Join(dir, "."+name+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return make()
	}
	defer lock.Close() // gives the lock back, as the end of the process does
	_ = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	return make()
}
