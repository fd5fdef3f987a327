package release

import (
	"fmt"
	"os"
	"path/filepath"

	"flashlab/grader/edition"
	"flashlab/internal/cache"
	"flashlab/internal/zipfile"
)

// Write writes the tree and a zip of it into dir, each whole or not at all.
func (t *Tree) Write(dir string) (folder, zipped string, err error) {
	folder = filepath.Join(dir, t.Folder())
	zipped = folder + ".zip"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", "", err
	}
	if _, err := os.Stat(folder); err == nil {
		// The same name is the same bytes, unless somebody works in it.
		m, err := edition.Load(os.DirFS(folder))
		if err != nil || len(m.Changed(folder)) > 0 {
			return "", "", fmt.Errorf("%s is there already, and is not as it was written: move it away", folder)
		}
	} else if err := t.writeFolder(dir, folder); err != nil {
		return "", "", err
	}
	data, err := t.zip()
	if err != nil {
		return "", "", err
	}
	return folder, zipped, cache.WriteFile(zipped, data, 0o644)
}

func (t *Tree) writeFolder(dir, folder string) error {
	temp, err := os.MkdirTemp(dir, ".flashlab-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	for _, name := range edition.Sorted(t.Contents) {
		file := filepath.Join(temp, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, t.Contents[name], t.mode(name)); err != nil {
			return err
		}
	}
	return os.Rename(temp, folder)
}

func (t *Tree) mode(name string) os.FileMode {
	if t.Scripts[name] {
		return 0o755
	}
	return 0o644
}

// zip gives the same bytes for the same commit.
func (t *Tree) zip() ([]byte, error) {
	return zipfile.Files(t.Folder()+"/", t.Contents, t.Date, func(name string) bool { return t.Scripts[name] })
}
