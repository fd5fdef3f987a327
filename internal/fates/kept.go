package fates

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"flashlab/internal/cache"
)

// digits of a hash are kept: enough that no two are alike by chance.
const digits = 16

// oneIn of those on record is tried all the same, others with every commit.
const oneIn = 10

// Kept is a file that tells of each specimen, or test, the hash of what decided when it last met its fate, or passed.
type Kept struct {
	path    string
	mu      sync.Mutex
	keys    map[string]string
	changed bool
}

// Read reads the file; without one nothing is on record.
func Read(path string) (*Kept, error) {
	k := &Kept{path: path, keys: map[string]string{}}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if len(words) != 2 || len(words[0]) != digits {
			return nil, fmt.Errorf("%s: %q: expected a hash and a name; delete the file, and make test-all tries all", path, strings.TrimSpace(line))
		}
		k.keys[words[1]] = words[0]
	}
	return k, nil
}

// Has tells whether the specimen met its fate, or the test passed, when all that decides had this hash.
func (k *Kept) Has(name, key string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys[name] == key[:digits]
}

// Drawn tells whether what is on record is tried all the same: one in ten is, and each commit draws others.
func Drawn(name, commit string) bool {
	h := sha256.Sum256([]byte(commit + name))
	return binary.BigEndian.Uint32(h[:])%oneIn == 0
}

// Note puts on record that the specimen has met its fate, or strikes it off.
func (k *Kept) Note(name, key string, met bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.keys[name]
	if delete(k.keys, name); met {
		k.keys[name] = key[:digits]
	}
	k.changed = k.changed || k.keys[name] != was
}

// Write writes the file, where it has changed, but for those that are gone: there are no more of that name.
func (k *Kept) Write(gone func(name string) bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var b strings.Builder
	b.WriteString("# What met its fate, with the hash of everything that decided. Written by make test-all.\n")
	for _, name := range slices.Sorted(maps.Keys(k.keys)) {
		if gone(name) {
			k.changed = true
			continue
		}
		fmt.Fprintln(&b, k.keys[name], name)
	}
	if !k.changed {
		return nil
	}
	return cache.WriteFile(k.path, []byte(b.String()), 0o644)
}
