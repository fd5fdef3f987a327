// Package glob finds files by a pattern below a folder. The folder's own name is no pattern: a course may lie in a folder
// named "GPU [2026]", where filepath.Glob, given the whole path, finds nothing and says nothing.
package glob

import (
	"io/fs"
	"os"
	"path/filepath"
)

// In are the files below a folder that a pattern fits, with their whole paths, in order. The pattern is path.Match's, of
// what lies below the folder.
func In(folder, pattern string) ([]string, error) {
	names, err := fs.Glob(os.DirFS(folder), pattern)
	for i, name := range names {
		names[i] = filepath.Join(folder, filepath.FromSlash(name))
	}
	return names, err
}
