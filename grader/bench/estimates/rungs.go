package estimates

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/internal/cache"
)

// file has all rungs, a line each.
const file = "grader/bench/estimates/testdata/rungs.jsonl"

// Load reads the rungs that were counted.
func Load(root string) (all []Rung, err error) {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var r Rung
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// Save writes them, by task: the tasks of the course, then bonus tasks.
func Save(root string, all []Rung) error {
	slices.SortStableFunc(all, func(a, b Rung) int {
		return cmp.Or(cmp.Compare(len(a.Task), len(b.Task)), cmp.Compare(a.Task, b.Task))
	})
	var b bytes.Buffer
	for _, r := range all {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	if err := os.MkdirAll(filepath.Join(root, filepath.Dir(file)), 0o755); err != nil {
		return err
	}
	return cache.WriteFile(filepath.Join(root, file), b.Bytes(), 0o644)
}

// same tells whether a rung is another one's version and workload, of the same code, timed in the same run.
func (r Rung) same(o Rung) bool {
	return r.Task == o.Task && r.Version == o.Version && r.Op == o.Op && slices.Equal(r.Shape, o.Shape) && r.Causal == o.Causal && r.Nanoseconds == o.Nanoseconds
}

// String names a rung.
func (r Rung) String() string {
	version, mask := r.Version, ""
	if version == "" {
		version = "solution"
	}
	if r.Causal {
		mask = ", causal"
	}
	return fmt.Sprintf("%s %s, %s %s%s", r.Task, version, r.Op, strings.Trim(strings.ReplaceAll(fmt.Sprint(r.Shape), " ", "×"), "[]"), mask)
}
