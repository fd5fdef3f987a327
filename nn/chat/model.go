// Package chat lets a Llama talk: it finds the words with which a model expects to be spoken to, keeps whose turn it is, and
// notices when the model has said all.
package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"flashlab/nn/gpt2/bpe"
	"flashlab/nn/llama3"
)

// Model is a model's weights, with what it takes to talk to it.
type Model struct {
	llama3.Opened
	Tokenizer *bpe.Tokenizer
	Template  *Template
}

// Open opens a GGUF file, or the folder of a Hugging Face model.
func Open(path string) (*Model, error) {
	opened, err := llama3.OpenPath(path)
	if err != nil {
		return nil, err
	}
	m := &Model{Opened: opened}
	text, err := m.words(path)
	if err == nil {
		m.Template, err = templateOf(text, m.Tokenizer)
	}
	if err != nil {
		_ = opened.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// words finds the tokenizer, and the text of the template: "" where there is none.
func (m *Model) words(path string) (template string, err error) {
	if g, ok := m.Opened.(*llama3.GGUF); ok {
		if m.Tokenizer, err = bpe.FromGGUF(g.Metadata()); err != nil {
			return "", err
		}
		template, err = g.Metadata().Text("tokenizer.chat_template")
	} else {
		if m.Tokenizer, err = bpe.LoadJSON(os.DirFS(path)); errors.Is(err, fs.ErrNotExist) {
			return "", errors.New("the folder has no tokenizer.json: without it there are no words")
		}
		if err == nil {
			template, err = templateIn(path)
		}
	}
	if err != nil {
		return "", err
	}
	if have, want := m.Tokenizer.Size(), m.Config().Vocabulary; have > want {
		return "", fmt.Errorf("the tokenizer goes up to token %d, and the model has %d: they do not belong together", have-1, want)
	}
	return template, nil
}

// templateIn is a folder's: in a file of its own, or in the tokenizer's config.
func templateIn(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "chat_template.jinja"))
	if err == nil {
		return string(data), nil
	}
	const config = "tokenizer_config.json"
	data, err = os.ReadFile(filepath.Join(dir, config))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var file struct {
		Template any `json:"chat_template"` // a text; or several with names
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return "", fmt.Errorf("%s: %w", config, err)
	}
	text, _ := file.Template.(string)
	return text, nil
}
