package price

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"flashlab/nn/gpt2/bpe"
)

// Passages reads a text: a file of the package evals, of which the passages of OpenWebText are taken, or any other.
func Passages(file string) ([]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(file, ".jsonl") {
		return []string{string(data)}, nil
	}
	var all []string
	for line := range strings.Lines(string(data)) {
		var one struct{ Type, Text string }
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if one.Type == "openwebtext" {
			all = append(all, one.Text)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no passages of the type openwebtext", file)
	}
	return all, nil
}

// Pieces cuts passages into texts of so many tokens, each of which begins with begin, unless that is negative. First
// comes a piece of each passage, then the next of each that is long enough.
func Pieces(t *bpe.Tokenizer, passages []string, size int, begin int32) (all [][]int32) {
	var tokens [][]int32
	for _, p := range passages {
		tokens = append(tokens, t.Plain(p))
	}
	size -= len(begun(nil, begin))
	for {
		some := false
		for i, p := range tokens {
			if len(p) >= size {
				all, tokens[i], some = append(all, begun(p[:size], begin)), p[size:], true
			}
		}
		if !some {
			return all
		}
	}
}

// begun is a text that begins with begin, unless that is negative.
func begun(text []int32, begin int32) []int32 {
	if begin < 0 {
		return text
	}
	return append([]int32{begin}, text...)
}

// Question has four answers, A to D, of which one is right.
type Question struct {
	Text  string // ends where the letter belongs
	Right int
}

// asked is how lm-eval's examples for MMLU are written; what follows the options explains the answer.
var asked = regexp.MustCompile(`(?s)^(.*?)\s+\(A\) (.*?)\s+\(B\) (.*?)\s+\(C\) (.*?)\s+\(D\) (.*?)\nA: Let's think step by step\..*The answer is \(([ABCD])\)`)

// Questions reads lm-eval's examples of MMLU, the shortest first: a long one takes a model more time.
func Questions(file string) (all []Question, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var subjects map[string]string
	if err := json.Unmarshal(data, &subjects); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, text := range subjects {
		for _, one := range strings.Split(text, "\n\nQ: ")[1:] {
			if m := asked.FindStringSubmatch(one); m != nil && !strings.Contains(m[5], "(E)") {
				all = append(all, Question{fmt.Sprintf("%s\nA. %s\nB. %s\nC. %s\nD. %s\nAnswer:", m[1], m[2], m[3], m[4], m[5]), int(m[6][0] - 'A')})
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New(file + " has no questions with the answers A to D")
	}
	slices.SortFunc(all, func(a, b Question) int {
		if len(a.Text) != len(b.Text) {
			return len(a.Text) - len(b.Text)
		}
		return strings.Compare(a.Text, b.Text)
	})
	return all, nil
}
