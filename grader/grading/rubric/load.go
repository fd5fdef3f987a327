package rubric

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"flashlab/grader/tasks/registry"
)

// Load reads and checks the rubric of a task, by its name or its folder.
func Load(root, name string) (*Task, error) {
	one, err := registry.All.Find(name)
	if err != nil {
		return nil, err
	}
	return load(root, one, registry.All, "")
}

func load(root string, one registry.Task, all registry.List, variant string) (*Task, error) {
	t := &Task{Name: one.Name, Dir: one.Dir}
	file := filepath.Join(one.Dir, "rubric.toml")
	written, changed, err := text(root, one.Dir, variant)
	if err != nil {
		return nil, err
	}
	if changed {
		t.Variant = variant
		file += fmt.Sprintf(" with the checks of the variant %q", variant)
	}
	meta, err := toml.Decode(written, t)
	if err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			return nil, fmt.Errorf("%s:%d: %s", file, parse.Position.Line, parse.Message)
		}
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("%s: unknown key %q", file, unknown[0].String())
	}
	if err := t.warmUp(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if t.Limits.Memory == 0 {
		t.Limits.Memory = defaultMemory
	}
	for i := range t.Checks {
		for j := range t.Checks[i].Cases {
			if c := &t.Checks[i].Cases[j]; c.Weight == 0 {
				c.Weight = 1
			}
		}
	}
	if err := t.validate(all); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	t.Draw("") // a class draws its own
	for _, name := range t.Uses {
		earlier, err := all.Find(string(name))
		if err != nil {
			return nil, fmt.Errorf("%s: uses: %w", file, err)
		}
		used, err := load(root, earlier, all, variant)
		if err != nil {
			return nil, fmt.Errorf("%s: uses %s: %w", file, name, err)
		}
		t.Used = append(t.Used, used)
	}
	return t, nil
}

// warmUp gives each of the warm-up's checks the same, for the shares to split. Nobody is shown it, nor is it in any total.
func (t *Task) warmUp() error {
	if !t.Name.WarmUp() {
		return nil
	}
	for i := range t.Checks {
		if t.Checks[i].Points != 0 || t.Points != 0 {
			return errors.New("points: the warm-up has none")
		}
	}
	for i := range t.Checks {
		t.Checks[i].Points = 1
	}
	t.Points = float64(len(t.Checks))
	return nil
}

// WithWarmUp adds the warm-up in front of the tasks that have points.
func WithWarmUp(root string, tasks []*Task) ([]*Task, error) {
	var all []*Task
	for _, one := range registry.All {
		if !one.Name.WarmUp() {
			continue
		}
		t, err := load(root, one, registry.All, "")
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return append(all, tasks...), nil
}

// LoadAll reads the rubric of every task with points, in order.
func LoadAll(root string) ([]*Task, error) { return LoadVariant(root, "") }

// Find picks tasks by name ("2") or folder; "" picks all but the warm-up and the bonus tasks, and "bonus" all of these.
func Find(tasks []*Task, name string) ([]*Task, error) {
	if name == "" || name == registry.Bonus {
		return slices.DeleteFunc(slices.Clone(tasks), func(t *Task) bool { return t.Name.WarmUp() || t.Name.Bonus() != (name == registry.Bonus) }), nil
	}
	var have []string
	for _, t := range tasks {
		if name == string(t.Name) || strings.TrimSuffix(name, "/") == t.Dir {
			return []*Task{t}, nil
		}
		have = append(have, fmt.Sprintf("%s (%s)", t.Name, t.Dir))
	}
	return nil, fmt.Errorf("there is no task %q; there is %s", name, strings.Join(have, ", "))
}
