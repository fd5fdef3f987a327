package rubric

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"flashlab/grader/tasks/registry"
)

// VariantsDir is the folder of a task that holds its variants.
//
// A variant asks for something else in a year, so that last year's solution does not pass. Each task that
// it changes has a folder, _variants/NAME, with
//
//	rubric.toml   the checks that it changes, each whole: one of an id that the task has takes its place,
//	              another one comes behind the last
//	README.md     sections of the handout: one of a title that the handout has takes its place, the others
//	              come behind the handout's first
//	solution/     what passes
//	*.go, *.cu …  what students get in place of a file of the same name, or besides: a stub, public tests
//
// Everything else is the task's own: its files, its points, its limits.
const VariantsDir = "_variants"

// VariantDir is the folder of what a variant changes of a task, from the course's root.
func VariantDir(task, variant string) string { return path.Join(task, VariantsDir, variant) }

// OfAVariant is the name of the variant that a file in a task's folder belongs to, and its own path there.
func OfAVariant(rest string) (variant, own string, ok bool) {
	if rest, ok = strings.CutPrefix(rest, VariantsDir+"/"); !ok {
		return "", "", false
	}
	return strings.Cut(rest, "/")
}

// Variants are the names of those that the tree has.
func Variants(root string) ([]string, error) {
	names := map[string]bool{}
	for _, one := range registry.All {
		entries, err := os.ReadDir(filepath.Join(root, one.Dir, VariantsDir))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for _, e := range entries {
			if exists(filepath.Join(root, VariantDir(one.Dir, e.Name()), "rubric.toml")) {
				names[e.Name()] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// LoadVariant reads the rubric of every task with points as a variant has it; "" is the plain course.
func LoadVariant(root, variant string) ([]*Task, error) {
	if variant != "" {
		have, err := Variants(root)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(have, variant) {
			return nil, NoVariant(variant, have)
		}
	}
	return loadList(root, registry.All, variant)
}

// LoadList reads the rubric of every task with points of a list: one that has a new task, say.
func LoadList(root string, all registry.List) ([]*Task, error) { return loadList(root, all, "") }

func loadList(root string, all registry.List, variant string) (tasks []*Task, err error) {
	for _, one := range all {
		if one.Name.WarmUp() {
			continue
		}
		t, err := load(root, one, all, variant)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// NoVariant says that there is none of this name, and which there are.
func NoVariant(variant string, have []string) error {
	if len(have) == 0 {
		return fmt.Errorf("there is no variant %q, nor any other", variant)
	}
	return fmt.Errorf("there is no variant %q; there is %s", variant, strings.Join(have, ", "))
}

// Solution is the folder of the task's reference solution, from the course's root.
func (t *Task) Solution() string {
	if t.Variant == "" {
		return path.Join(t.Dir, "solution")
	}
	return path.Join(VariantDir(t.Dir, t.Variant), "solution")
}

// text is a task's rubric as it is written, with a variant's checks in it; changed tells whether there are any.
func text(root, dir, variant string) (rubric string, changed bool, err error) {
	plain, err := os.ReadFile(filepath.Join(root, dir, "rubric.toml"))
	if err != nil || variant == "" {
		return string(plain), false, err
	}
	file := path.Join(VariantDir(dir, variant), "rubric.toml")
	checks, err := os.ReadFile(filepath.Join(root, file))
	if os.IsNotExist(err) {
		return string(plain), false, nil
	}
	if err != nil {
		return "", false, err
	}
	merged, err := WithChecks(string(plain), string(checks))
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", file, err)
	}
	return merged, true, nil
}

var (
	tableHead = regexp.MustCompile(`^\s*\[`)
	checkHead = regexp.MustCompile(`^\s*\[\[\s*check\s*\]\]`)
	checkID   = regexp.MustCompile(`^\s*id\s*=\s*"([^"]*)"`)
)

// block is a table of a rubric, with the lines before the next one.
type block struct{ id, text string }

// blocks cuts a rubric at its tables' heads. What stands before the first is a block, too; those that are no checks
// have no id. Comments right above a head belong to its table.
func blocks(rubric string) (all []block) {
	var now []string
	end := func() {
		b := block{text: strings.Join(now, "")}
		if i := slices.IndexFunc(now, checkHead.MatchString); i >= 0 {
			for _, line := range now[i:] {
				if m := checkID.FindStringSubmatch(line); m != nil {
					b.id = m[1]
					break
				}
			}
		}
		all, now = append(all, b), nil
	}
	for line := range strings.Lines(rubric) {
		if tableHead.MatchString(line) {
			above := len(now)
			for above > 0 && strings.HasPrefix(now[above-1], "#") {
				above--
			}
			comments := slices.Clone(now[above:])
			now = now[:above]
			end()
			now = comments
		}
		now = append(now, line)
	}
	end()
	return all
}

// WithChecks is a rubric with a variant's checks in it.
func WithChecks(plain, variant string) (string, error) {
	own := blocks(plain)
	for i, b := range blocks(variant) {
		if b.id == "" {
			if i == 0 && !strings.Contains(withoutComments(b.text), "=") { // what it says above its first check
				continue
			}
			return "", fmt.Errorf("a variant changes checks alone, each a [[check]] with its id; points, limits and files are the task's. It has\n%s", strings.TrimSpace(b.text))
		}
		b.text = strings.TrimRight(b.text, "\n") + "\n\n"
		at := slices.IndexFunc(own, func(o block) bool { return o.id == b.id })
		if at >= 0 {
			own[at] = b
			continue
		}
		last := 0
		for at, o := range own {
			if o.id != "" {
				last = at + 1
			}
		}
		own = slices.Insert(own, last, b)
	}
	var merged strings.Builder
	for _, b := range own {
		merged.WriteString(b.text)
	}
	return strings.TrimRight(merged.String(), "\n") + "\n", nil
}

func withoutComments(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// WithSections is a handout with a variant's sections in it.
func WithSections(handout, variant string) string {
	own := sections(handout)
	behind := min(2, len(own)) // what stands above all sections, and the first
	for _, s := range sections(variant)[1:] {
		title, _, _ := strings.Cut(s, "\n")
		at := slices.IndexFunc(own, func(o string) bool { return strings.HasPrefix(o, title+"\n") })
		if at >= 0 {
			own[at] = s
			continue
		}
		own = slices.Insert(own, behind, s)
		behind++
	}
	for i, s := range own {
		own[i] = strings.TrimRight(s, "\n") + "\n"
	}
	return strings.Join(own, "\n")
}

// sections cuts a page at its second-level headings; the first is what stands above them.
func sections(page string) (all []string) {
	from := 0
	for at := range len(page) {
		if strings.HasPrefix(page[at:], "\n## ") {
			all, from = append(all, page[from:at+1]), at+1
		}
	}
	return append(all, page[from:])
}
