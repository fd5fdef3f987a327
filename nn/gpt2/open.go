package gpt2

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"flashlab/nn/safetensors"
	"flashlab/tensor"
)

// The files of a model's folder.
const (
	configFile   = "config.json"
	metadataFile = "metadata.json" // beside .npy files, or a .npz
	torchFile    = "pytorch_model.bin"
)

// ErrNoWeights says that a folder has the config of a model, but no weights.
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
		return nil, fmt.Errorf("neither %s with %s (a Hugging Face model's) nor %s (of export_gpt2.py) is there: %w", configFile, safetensors.Single, metadataFile, err)
	}
	if err != nil {
		return nil, err
	}
	c, err := ParseConfig(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configFile, err)
	}
	s, err := safetensors.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := fs.Stat(dir, metadataFile); err == nil {
			return openExported(dir)
		}
		return &Files{config: c}, missing(dir)
	}
	if err != nil {
		return nil, err
	}
	f, err := checked(&Files{config: c, about: s.About(), store: whole{s}, close: s.Close})
	if err != nil {
		s.Close()
	}
	return f, err
}

// whole reads a tensor of such files at once.
type whole struct{ *safetensors.Folder }

func (w whole) names() []string { return w.Names() }

func (w whole) shape(name string) ([]int, bool) { return w.Shape(name) }

func (w whole) read(name string) ([]float32, error) {
	shape, _ := w.Shape(name)
	x := make([]float32, tensor.Elements(shape))
	return x, w.Read(name, 0, x)
}

// missing says what to do about weights that are not there.
func missing(dir fs.FS) error {
	if _, err := fs.Stat(dir, torchFile); err == nil {
		return fmt.Errorf("%s is there, which is not read; task7_gpt2/export_gpt2.py turns it into .npy files", torchFile)
	}
	return fmt.Errorf("%w: %s is missing", ErrNoWeights, safetensors.Single)
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
