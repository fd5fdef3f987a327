package llama3

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Opened are weights in a file or a folder.
type Opened interface {
	Weights
	io.Closer
}

// OpenPath opens a GGUF file, or the folder of a Hugging Face model. A folder without a config.json that has one GGUF
// file is that file.
func OpenPath(path string) (Opened, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		if found, _ := fs.Glob(os.DirFS(path), "*.gguf"); len(found) == 1 && !exists(filepath.Join(path, configFile)) {
			return OpenPath(filepath.Join(path, found[0]))
		}
		f, err := Open(os.DirFS(path))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return f, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return OpenGGUF(file, info.Size(), path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
