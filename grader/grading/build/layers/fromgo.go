package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// fromGo looks for what an action made in go's own build cache: a line "v1 ACTION OUTPUT SIZE TIME"
// in one file, and the output in another. That form is nobody's promise: what looks otherwise, or is
// not what its name says, is a miss, and compiled.
func fromGo(cache string, action []byte) (body, output []byte, ok bool) {
	if cache == "" {
		return nil, nil, false
	}
	name := hex.EncodeToString(action)
	line, err := os.ReadFile(inGo(cache, name, "-a"))
	words := strings.Fields(string(line))
	if err != nil || len(words) != 5 || words[0] != "v1" || words[1] != name {
		return nil, nil, false
	}
	if body, err = os.ReadFile(inGo(cache, words[2], "-d")); err != nil {
		return nil, nil, false
	}
	sum := sha256.Sum256(body)
	return body, sum[:], hex.EncodeToString(sum[:]) == words[2]
}

func inGo(cache, name, kind string) string {
	return filepath.Join(cache, name[:min(2, len(name))], filepath.Base(name)+kind)
}
