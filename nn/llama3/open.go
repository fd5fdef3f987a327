package llama3

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"flashlab/nn/safetensors"
	"flashlab/tensor"
)

const configFile = "config.json"

// ErrNoWeights says that a folder has the config of a model, but no weights.
var ErrNoWeights = errors.New("no weights")

// Files are weights in a folder.
type Files struct {
	config Config
	files  *safetensors.Folder
}

var _ Weights = (*Files)(nil)

// Open opens a model's folder: config.json, and model.safetensors or its shards. All names
// and shapes are checked; values are as they are read. If there are no weights at all, the
// error is ErrNoWeights, and Config is known all the same.
func Open(dir fs.FS) (*Files, error) {
	data, err := fs.ReadFile(dir, configFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing: want the folder of a Hugging Face model: %w", configFile, err)
	}
	if err != nil {
		return nil, err
	}
	c, err := ParseConfig(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configFile, err)
	}
	f := &Files{config: c}
	f.files, err = safetensors.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return f, missing(dir)
	}
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// missing says what to do about weights that are not there.
func missing(dir fs.FS) error {
	if found, _ := fs.Glob(dir, "*.bin"); len(found) > 0 {
		return fmt.Errorf("%s is there, which is not read: save_pretrained of transformers writes %s", found[0], safetensors.Single)
	}
	return fmt.Errorf("%w: neither %s nor %s is there", ErrNoWeights, safetensors.Single, safetensors.Index)
}

// check looks whether the weights are there, in the right shapes.
func (f *Files) check() error {
	c, known := f.config, map[string]bool{}
	for _, t := range c.Tensors() {
		known[t.Name] = true
		shape, ok := f.files.Shape(t.Name)
		if !ok {
			why := ""
			if t.Name == Head {
				why = " (a model that needs none has tie_word_embeddings = true)"
			}
			return fmt.Errorf("%s: the weight %s is missing%s; there are %s", f.About(), t.Name, why, some(f.files.Names()))
		}
		if !slices.Equal(shape, t.Shape) {
			return fmt.Errorf("%s: the weight %s is %s; %s asks for %s", f.About(), t.Name, tensor.ShapeString(shape), configFile, tensor.ShapeString(t.Shape))
		}
	}
	for _, name := range f.files.Names() { // a bias that would not be added makes another model
		if strings.HasSuffix(name, Bias) && !known[name] {
			return fmt.Errorf("%s: there is a %s, and by %s (attention_bias = %v, mlp_bias = %v) there should be none", f.About(), name, configFile, c.AttentionBias, c.MLPBias)
		}
	}
	return nil
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
func (f *Files) About() string { return f.files.About() }

// Close closes the files.
func (f *Files) Close() error {
	if f.files == nil {
		return nil
	}
	return f.files.Close()
}

// Read reads a piece of one weight. Numbers that no training leaves are an error.
func (f *Files) Read(t Tensor, from int, into []float32) error {
	if err := f.files.Read(t.Name, from, into); err != nil {
		return fmt.Errorf("the weight %s: %w", t.Name, err)
	}
	for i, v := range into {
		if v-v != 0 { // NaN and the infinities
			return fmt.Errorf("%s: the weight %s is corrupt: value %d is %v", f.About(), t.Name, from+i, v)
		}
	}
	return nil
}

// OpenOrRandom opens a model's folder. If that has a config and no weights, the weights are
// random.
func OpenOrRandom(dir fs.FS) (Weights, error) {
	f, err := Open(dir)
	if errors.Is(err, ErrNoWeights) {
		return Random(f.config, 1)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}
