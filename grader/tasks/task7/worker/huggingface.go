package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"

	"flashlab/grader/tasks/talk"
	"flashlab/internal/repo"
	"flashlab/nn/gpt2"
	"flashlab/nn/gpt2/bpe"
)

// huggingFace asks transformers, where python3 has it, to go on from the same tokens.
func (c choices) huggingFace(prompt []int32, t *bpe.Tokenizer) talk.Writer {
	is := talk.Writer{Name: "Hugging Face's transformers"}
	root, err := repo.Root()
	if err != nil {
		is.Not = "not compared: " + err.Error()
		return is
	}
	folder := c.model
	if folder == "" {
		folder = filepath.Join(root, "task7_gpt2", "model")
	}
	python, err := exec.LookPath("python3")
	_, random := gpt2.Sizes[c.model]
	switch {
	case c.sampler.Temperature > 0:
		is.Not = "not compared: it would draw other numbers (without TEMPERATURE it is)"
	case random:
		is.Not = "not compared: it does not have these random weights"
	case err != nil:
		is.Not = "not compared: there is no python3"
	}
	if is.Not != "" {
		return is
	}
	args := []string{filepath.Join(root, "task7_gpt2", "follow_hf.py"), "--model", folder, "--tokens", fmt.Sprint(c.tokens), "--prompt"}
	for _, p := range prompt {
		args = append(args, fmt.Sprint(p))
	}
	out, err := exec.Command(python, args...).Output()
	var answer struct {
		Tokens         []int32
		Missing, Error string
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	switch failed := json.Unmarshal(lines[len(lines)-1], &answer); {
	case answer.Missing != "":
		is.Not = fmt.Sprintf("not compared: python3 here has no %s (pip install torch transformers)", answer.Missing)
	case answer.Error != "":
		is.Not = "not compared: " + answer.Error
	case err != nil:
		is.Not = fmt.Sprintf("not compared: python3 %s: %v", filepath.Base(args[0]), err)
	case failed != nil:
		is.Not = "not compared: its last line is no tokens"
	}
	if stop := c.stop(t); stop >= 0 { // ours end there
		for i, token := range answer.Tokens {
			if token == stop {
				answer.Tokens = answer.Tokens[:i]
				break
			}
		}
	}
	is.Tokens = answer.Tokens
	return is
}
