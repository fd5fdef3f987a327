package gpt2

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"

	"flashlab/nn/safetensors"
	"flashlab/tensor"
	"flashlab/tensor/npy"
)

// metadata is the file of that name, as export_gpt2.py writes it.
type metadata struct {
	Kind    string           // "model" or "head"
	Config  json.RawMessage  // as in config.json
	Archive string           // the .npz with the weights; "" if each has its own .npy file
	Tensors map[string][]int // shapes by name, as they are in the files
	Layer   int              // of a head
	Head    int
}

// maxExported bounds one array: GPT-2 XL's largest has 80 million numbers.
const maxExported = 1 << 30

func readMetadata(dir fs.FS, kind string) (metadata, error) {
	var m metadata
	data, err := fs.ReadFile(dir, metadataFile)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s: %w", metadataFile, err)
	}
	if m.Kind != kind {
		return m, fmt.Errorf("%s: kind = %q, want %q: export_gpt2.py writes a whole model, or one head with --layer and --head", metadataFile, m.Kind, kind)
	}
	for name, shape := range m.Tensors {
		n := 1
		for _, d := range shape {
			if d < 1 || n > maxExported/d {
				return m, fmt.Errorf("%s: %s is %s: want sizes from 1, and at most %d numbers", metadataFile, name, tensor.ShapeString(shape), maxExported)
			}
			n *= d
		}
	}
	if m.Archive != "" && m.Archive != path.Base(m.Archive) {
		return m, fmt.Errorf("%s: archive = %q: want a file of the same folder", metadataFile, m.Archive)
	}
	return m, nil
}

// openExported opens a folder that export_gpt2.py wrote.
func openExported(dir fs.FS) (*Files, error) {
	m, err := readMetadata(dir, "model")
	if err != nil {
		return nil, err
	}
	c, err := ParseConfig(m.Config)
	if err != nil {
		return nil, fmt.Errorf("%s: config: %w", metadataFile, err)
	}
	s, closer, err := m.open(dir)
	if err != nil {
		return nil, err
	}
	f, err := checked(&Files{config: c, about: metadataFile, store: s, close: closer})
	if err != nil {
		_ = closer()
	}
	return f, err
}

// open finds the arrays that the metadata describes.
func (m metadata) open(dir fs.FS) (store, func() error, error) {
	if m.Archive == "" {
		return exported{dir, m.Tensors}, func() error { return nil }, nil
	}
	r, size, err := safetensors.OpenAt(dir, m.Archive)
	if err != nil {
		return nil, nil, err
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		r.Close()
		return nil, nil, fmt.Errorf("%s: %w", m.Archive, err)
	}
	return exported{z, m.Tensors}, r.Close, nil
}

// exported is a folder of .npy files; a .npz archive is one, too.
type exported struct {
	files  fs.FS
	shapes map[string][]int
}

func (e exported) names() []string { return slices.Sorted(maps.Keys(e.shapes)) }

func (e exported) shape(name string) ([]int, bool) {
	s, ok := e.shapes[name]
	return s, ok
}

func (e exported) read(name string) ([]float32, error) {
	f, err := e.files.Open(name + ".npy")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := npy.Read(f, tensor.Elements(e.shapes[name]))
	if err != nil {
		return nil, err
	}
	if !slices.Equal(t.Shape, e.shapes[name]) {
		return nil, fmt.Errorf("%s.npy is %s, and %s says %s", name, tensor.ShapeString(t.Shape), metadataFile, tensor.ShapeString(e.shapes[name]))
	}
	if n, err := f.Read(make([]byte, 1)); n > 0 || err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s.npy goes on behind its data: it is corrupt (%v)", name, err)
	}
	return t.Data, nil
}
