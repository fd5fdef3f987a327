// Package edition knows which release a tree is, and updates one to a newer release.
package edition

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ManifestName is the file that makes a tree a release.
const ManifestName = "release.json"

// Manifest says what a release is, and which files the course brought.
type Manifest struct {
	Name    string    `json:"name"` // Version-Commit
	Version string    `json:"version"`
	Commit  string    `json:"commit"`
	Date    time.Time `json:"date"` // of the commit
	// Yours are the files that students change: never touched by an update.
	Yours []string `json:"yours"`
	// Files are all others, with their SHA-256.
	Files map[string]string `json:"files"`
	// Stubs are Yours as they were handed out, with their SHA-256.
	Stubs map[string]string `json:"stubs"`
}

// Load reads the manifest of a tree, or of a zip of one.
func Load(tree fs.FS) (*Manifest, error) {
	data, err := fs.ReadFile(tree, ManifestName)
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%s: %w", ManifestName, err)
	}
	if m.Name == "" || len(m.Files) == 0 {
		return nil, fmt.Errorf("%s: name and files must be there", ManifestName)
	}
	return m, nil
}

// Name is what results call the course: the release, or the commit of a
// working tree.
func Name(root string) string {
	m, err := Load(os.DirFS(root))
	switch {
	case err == nil:
		return m.Name
	case !errors.Is(err, fs.ErrNotExist):
		return "a release whose " + ManifestName + " cannot be read"
	}
	// A folder inside somebody else's repository does not have its own commit.
	if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
		out, err := exec.Command("git", "-C", root, "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*").Output()
		if err == nil {
			return "working tree at " + strings.TrimSpace(string(out))
		}
	}
	return "working tree"
}

// Changed lists the course's files that are no longer as they were handed out.
func (m *Manifest) Changed(root string) []string {
	var names []string
	for _, name := range Sorted(m.Files) {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || Sum(data) != m.Files[name] {
			names = append(names, name)
		}
	}
	return names
}

func Sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// Folder is what the tree is called, on disk and in the zip.
func (m *Manifest) Folder() string { return "flashlab-" + m.Name }
