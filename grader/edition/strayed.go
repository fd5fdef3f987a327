package edition

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Strayed says which of a release's files in these folders are no longer as the release has them, a line each. Handouts
// and tests may be; what is built counts here as it is, and where one hands in as the release has it.
func Strayed(root string, folders ...string) (says []string) {
	m, err := Load(os.DirFS(root))
	if err != nil {
		return nil // no release
	}
	for _, name := range Sorted(m.Files) {
		if !slices.Contains(folders, path.Dir(name)) || strings.HasSuffix(name, "_test.go") || !built(name) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err == nil && Sum(data) != m.Files[name] {
			says = append(says, fmt.Sprintf("Note: %s is changed, but it is the course's: what you hand in is graded without your change. The release's zip has it as it was", name))
		}
	}
	return says
}

// built tells whether a file decides how a task is graded.
func built(name string) bool {
	return slices.Contains([]string{".go", ".cu", ".cuh", ".h", ".toml"}, path.Ext(name))
}
