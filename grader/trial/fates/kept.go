package fates

import (
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

// Kept are the fates of a file: of each specimen the hash of what decided when it last met its fate.
type Kept struct {
	path string
	mu   sync.Mutex
	keys map[string]string
}

// Read reads the file; without one nothing is kept.
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
			return nil, fmt.Errorf("%s: %q: expected a hash and a specimen; without the file, all specimens are graded", path, strings.TrimSpace(line))
		}
		k.keys[words[1]] = words[0]
	}
	return k, nil
}

// Has tells whether the specimen met its fate when all that decides had this hash.
func (k *Kept) Has(name, key string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys[name] == key[:digits]
}

// Note keeps that the specimen has met its fate, or no longer keeps that it ever did.
func (k *Kept) Note(name, key string, met bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if delete(k.keys, name); met {
		k.keys[name] = key[:digits]
	}
}

// Write writes the file anew, with these specimens alone: others are no more.
func (k *Kept) Write(specimens []string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var b strings.Builder
	b.WriteString("# The hash of what decides each specimen's fate, as it was when it was met: see README.md. Written by make test-all.\n")
	for _, name := range slices.Sorted(maps.Keys(k.keys)) {
		if slices.Contains(specimens, name) {
			fmt.Fprintln(&b, k.keys[name], name)
		}
	}
	return cache.WriteFile(k.path, []byte(b.String()), 0o644)
}
