// Package repo finds the flashlab tree that a program works in.
package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// Root is the directory of the flashlab tree around the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && moduleLine.Match(text) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is not in a flashlab tree (no go.mod of module flashlab in it or above): cd there first", dir)
		}
	}
}

var moduleLine = regexp.MustCompile(`(?m)^module flashlab$`)
