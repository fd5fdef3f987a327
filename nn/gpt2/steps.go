package gpt2

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// otherStep is a decoding step that is no graph of the layers' kernels.
type otherStep interface{ decode(m *Model) error }

// otherSteps make them, by name, with what was chosen besides.
var otherSteps = map[string]func(m *Model, choices []string) error{}

// StepBy says how a token is decoded from now on: by "graph", as it is without this, or by another way that is there, with
// choices behind its name: "persistent,warps=16".
func (m *Model) StepBy(way string) error {
	list := strings.Split(way, ",")
	if way == "graph" {
		m.other = nil
		return nil
	}
	choose, ok := otherSteps[list[0]]
	if !ok {
		return fmt.Errorf("a step by %q: there is %s", way, strings.Join(append([]string{"graph"}, slices.Sorted(maps.Keys(otherSteps))...), ", "))
	}
	if err := choose(m, list[1:]); err != nil {
		return fmt.Errorf("a step by %q: %w", way, err)
	}
	return nil
}
