package gpt2

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"flashlab/tensor"
)

// The files of a model's folder.
const (
	configFile      = "config.json"
	safetensorsFile = "model.safetensors"
	metadataFile    = "metadata.json" // beside .npy files, or a .npz
	torchFile       = "pytorch_model.bin"
)

// ErrNoWeights: the folder says what a model looks like, but has no weights.
var ErrNoWeights = errors.New("no weights")

// Files are weights in a folder.
type Files struct {
	config Config
	about  string
	store  store
	prefix string // of every name in the store: "transformer." or nothing
	close  func() error
}

var _ Weights = (*Files)(nil)

// store is what a file format has to offer. Names that it does not list are not
// asked of it.
type store interface {
	names() []string
	shape(name string) ([]int, bool)
	read(name string) ([]float32, error)
}

// Open opens a model's folder, as Hugging Face's or export_gpt2.py's: config.json
// and model.safetensors, or metadata.json and the .npy or .npz files that it
// describes. All names and shapes are checked; values are as they are read.
func Open(dir fs.FS) (*Files, error) {
	data, err := fs.ReadFile(dir, configFile)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := fs.Stat(dir, metadataFile); err == nil {
			return openExported(dir)
		}
		return nil, fmt.Errorf("neither %s with %s (a Hugging Face model's) nor %s (of export_gpt2.py) is there: %w", configFile, safetensorsFile, metadataFile, err)
	}
	if err != nil {
		return nil, err
	}
	c, err := ParseConfig(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configFile, err)
	}
	r, size, err := openAt(dir, safetensorsFile)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := fs.Stat(dir, metadataFile); err == nil {
			return openExported(dir)
		}
		return &Files{config: c}, missing(dir)
	}
	if err != nil {
		return nil, err
	}
	s, err := openSafetensors(r, size)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", safetensorsFile, err)
	}
	f, err := checked(&Files{config: c, about: safetensorsFile, store: s, close: r.Close})
	if err != nil {
		r.Close()
	}
	return f, err
}

// missing says what to do about weights that are not there.
func missing(dir fs.FS) error {
	for _, other := range []string{torchFile, safetensorsFile + ".index.json"} {
		if _, err := fs.Stat(dir, other); err == nil {
			return fmt.Errorf("%s is there, which is not read; task7_gpt2/export_gpt2.py turns it into .npy files", other)
		}
	}
	return fmt.Errorf("%w: %s is missing", ErrNoWeights, safetensorsFile)
}

// checked looks whether the weights are there, in the right shapes.
func checked(f *Files) (*Files, error) {
	if _, ok := f.store.shape(TokenTable); !ok {
		f.prefix = "transformer."
	}
	for _, t := range f.config.Tensors() {
		shape, ok := f.store.shape(f.prefix + t.Name)
		if !ok {
			return nil, fmt.Errorf("%s: the weight %s is missing; there are %s", f.about, t.Name, some(f.store.names()))
		}
		if want := t.InFile(); !slices.Equal(shape, want) {
			return nil, fmt.Errorf("%s: the weight %s is %s; the config asks for %s", f.about, t.Name, tensor.ShapeString(shape), tensor.ShapeString(want))
		}
	}
	return f, nil
}

// some names the first few of a list.
func some(names []string) string {
	const few = 5
	if len(names) == 0 {
		return "none at all"
	}
	if len(names) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
	}
	return strings.Join(names, ", ")
}

// Config is the model's shape.
func (f *Files) Config() Config { return f.config }

// About names the file.
func (f *Files) About() string { return f.about }

// Close closes the files.
func (f *Files) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

// Read reads one weight. Numbers that no training leaves are an error.
func (f *Files) Read(t Tensor) ([]float32, error) {
	x, err := f.store.read(f.prefix + t.Name)
	if err != nil {
		return nil, fmt.Errorf("%s: the weight %s: %w", f.about, t.Name, err)
	}
	if len(x) != t.Elements() {
		return nil, fmt.Errorf("%s: the weight %s has %d values, want %d", f.about, t.Name, len(x), t.Elements())
	}
	for i, v := range x {
		if v-v != 0 { // NaN and the infinities
			return nil, fmt.Errorf("%s: the weight %s is corrupt: value %d is %v", f.about, t.Name, i, v)
		}
	}
	if t.Stored {
		return transposed(x, t.Shape[1], t.Shape[0]), nil
	}
	return x, nil
}

// readerAt is a file that can be read anywhere.
type readerAt interface {
	io.ReaderAt
	io.Closer
}

// openAt opens a file of the folder, and tells its size.
func openAt(dir fs.FS, name string) (readerAt, int64, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	r, ok := f.(readerAt)
	if !ok || info.Size() < 0 || info.Size() > math.MaxInt64-8 {
		f.Close()
		return nil, 0, fmt.Errorf("%s: this kind of file cannot be read at any place: copy it to a disk", name)
	}
	return r, info.Size(), nil
}
