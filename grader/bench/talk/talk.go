// Package talk shows what a trained model says on kernels that are right, and on such with a mistake: docs/talk.md.
package talk

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"flashlab/internal/cache"
	"flashlab/internal/harmless"
)

// Talk is one question to one model, on one device.
type Talk struct {
	Device  string // sim, or cuda
	Kernels string `json:",omitempty"` // halves: those of b2 and b6; "" for tasks 4 and 5
	Machine string // what it ran on, in words
	Command string // what somebody types for the first of Said
	Said    []Said // the first is the reference's
}

// Said is what `make chat` printed on some kernels.
type Said struct {
	Mutant  string `json:",omitempty"` // as MUTANT= names it; "" for the reference
	About   string `json:",omitempty"` // its mistake
	Printed string
	Failed  string `json:",omitempty"` // what it complained of
}

// Mutants are those that the page tells of, by KERNELS: of the kernel for prompts, and of the one for single tokens.
var Mutants = map[string][]string{
	"":       {"4/causal_ignored", "4/wrong_scale", "4/forgotten_rescale", "5/length_off_by_one", "5/no_scale", "5/swapped"},
	"halves": {"b2/mask_off_by_one", "b2/wrong_base", "b2/not_transposed", "b6/length_off_by_one", "b6/no_scale", "b6/sums_in_halves"},
}

// Answer is the part of what was printed that the model said, and what `make chat` says of the time.
func (s Said) Answer() (text, time string, err error) {
	_, rest, there := strings.Cut(s.Printed, "\nmodel: ")
	end := strings.LastIndex(rest, "\n(")
	if !there || end < 0 {
		return "", "", errors.New("the model said nothing")
	}
	return rest[:end], strings.TrimSpace(rest[end+1:]), nil
}

// Read reads what Write wrote; a file that is not there holds nothing.
func Read(file string) (all []Talk, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, t := range all {
		if len(t.Said) == 0 {
			return nil, fmt.Errorf("%s: nothing was said on %s", file, t.Device)
		}
	}
	return all, nil
}

// Write writes them to a file.
func Write(file string, all []Talk) error {
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return cache.WriteFile(file, append(data, '\n'), 0o644)
}

// Join puts newer talks in the place of those on the same device and kernels; the simulator's come first, those in float32
// before those in halves. Where only the solutions
// talked, the mutants' words on the same question stay.
func Join(all, newer []Talk) []Talk {
	for _, t := range newer {
		if i := slices.IndexFunc(all, func(o Talk) bool { return o.Device == t.Device && o.Kernels == t.Kernels }); i >= 0 {
			if old := all[i]; len(t.Said) == 1 && old.Command == t.Command {
				t.Said = append(t.Said, old.Said[1:]...)
			}
			all[i] = t
			continue
		}
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b Talk) int {
		return cmp.Or(strings.Compare(b.Device, a.Device), strings.Compare(a.Kernels, b.Kernels))
	})
	return all
}

// Page is docs/talk.md.
func Page(all []Talk) string {
	var b strings.Builder
	b.WriteString("# What a kernel's mistake does to a talk\n\n" +
		"`make chat` runs a trained model on your kernels of tasks 4, 5 and 6; `KERNELS=halves` takes its attention from b2 and b6,\n" +
		"and all else stays float32. This page has its answer on correct kernels, and on kernels with one deliberate mistake each. A\n" +
		"mistake in task 4 or b2 spoils the question, before the first word of the answer; a mistake in task 5 or b6 spoils each\n" +
		"word after it. **Predict first**: which mistakes would you notice in a talk?\n")
	for _, t := range all {
		where := "In the simulator"
		if t.Device != "sim" {
			where = "On a GPU"
		}
		if t.Kernels != "" {
			where += ", in " + t.Kernels
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s. The solutions stand in for a student's files:\n\n    %s\n\n", where, t.Machine, t.Command)
		for _, line := range strings.Split(strings.TrimSpace(t.Said[0].Printed), "\n") {
			b.WriteString(strings.TrimRight("    "+harmless.Line(line), " ") + "\n")
		}
		if len(t.Said) > 1 {
			b.WriteString("\nThe same question, on kernels with a mistake:\n\n| task | its mistake | the model says |\n| --- | --- | --- |\n")
		}
		for _, s := range t.Said[1:] {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", s.Mutant, cell(s.About), cell(s.words(t.Said[0])))
		}
	}
	return b.String()
}

// words are a mutant's, in one line, beside the reference's.
func (s Said) words(ref Said) string {
	text, _, err := s.Answer()
	if err != nil {
		return "nothing: " + s.Failed
	}
	if right, _, err := ref.Answer(); err == nil && right == text {
		return "the same"
	}
	return fmt.Sprintf("%q", text)
}

// cell is a text that no sign of which ends its cell, or is read as HTML or as emphasis.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "'").Replace(harmless.Line(s))
}
