package gpt2

import (
	"errors"
	"io/fs"
)

// OpenOrRandom opens a model's folder. If that has a config and no weights, the
// weights are random.
func OpenOrRandom(dir fs.FS) (Weights, error) {
	f, err := Open(dir)
	if errors.Is(err, ErrNoWeights) {
		return Random(f.Config(), 1)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// standIn is the shape of the model that replaces the course's own in a copy of the
// course that lacks it.
var standIn = Config{Width: 64, Heads: 4, Layers: 2, Positions: 128, Vocabulary: 512, Inner: 256, Epsilon: 1e-5}

// Bundled is the course's own model, in this folder, or a small random one if the
// folder is empty.
func Bundled(dir fs.FS) (Weights, error) {
	w, err := OpenOrRandom(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Random(standIn, 1)
	}
	return w, err
}
