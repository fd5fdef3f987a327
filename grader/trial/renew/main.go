// Command renew brings the bases of the specimens up to date with the solutions that they refer to. A base's
// hashes are taken anew. Specimens whose edits no longer apply get a base of copies: the text as it was, out of
// git.
//
//	go run ./grader/trial/renew
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/trial"
	"flashlab/internal/cache"
	"flashlab/internal/glob"
	"flashlab/internal/repo"
)

func main() {
	if err := command(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "renew:", err)
		os.Exit(1)
	}
}

func command(w io.Writer) error {
	root, err := repo.Root()
	if err != nil {
		return err
	}
	tasks, err := rubric.LoadAll(root)
	if err != nil {
		return err
	}
	if tasks, err = rubric.WithWarmUp(root, tasks); err != nil {
		return err
	}
	return renew(w, root, tasks)
}

// moved are the bases of these tasks whose source has changed.
func moved(root string, tasks []*rubric.Task) (all []trial.Base, err error) {
	for _, t := range tasks {
		bases, err := trial.Bases(root, t)
		if err != nil {
			return nil, err
		}
		for _, b := range bases {
			same, err := b.Same(root)
			if err != nil {
				return nil, err
			}
			if !same {
				all = append(all, b)
			}
		}
	}
	return all, nil
}

// renew first finds out all that is to be written, and then writes it.
func renew(w io.Writer, root string, tasks []*rubric.Task) error {
	changed, err := moved(root, tasks)
	if err != nil {
		return err
	}
	number := 1
	for len(numbered(root, number)) > 0 {
		number++
	}
	write := map[string][]byte{}
	then := map[string][]gate.File{} // a base's files as its hashes have them
	for _, kind := range []string{trial.Mutants, trial.Timing, trial.Exploits, trial.Honest} {
		all, err := trial.Load(root, kind, tasks...)
		if err != nil {
			return err
		}
		for _, s := range all {
			_, stale := s.Made(root)
			if stale == nil {
				continue
			}
			copied := fmt.Sprintf("%s_%d", s.Base, number)
			if err := freeze(root, s, copied, changed, then, write); err != nil {
				return fmt.Errorf("%s/%s/%s.toml fits neither its base of today (%w) nor that of its hashes: %w", kind, s.Task.Dir, s.Name, stale, err)
			}
			file := filepath.Join(root, "grader", "trial", "specimens", kind, s.Task.Dir, s.Name+".toml")
			if write[file], err = rebased(file, copied); err != nil {
				return err
			}
			fmt.Fprintf(w, "%v\n    so it is made from a copy, %s, from now on\n", stale, copied)
		}
	}
	for file, data := range write {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := cache.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	for _, b := range changed {
		if err := b.Save(root); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s/%s: renewed\n", b.Task.Dir, b.Name)
	}
	if len(changed) == 0 {
		fmt.Fprintln(w, "every base is as its hashes say")
	}
	return nil
}

// numbered are the bases whose name ends in this number.
func numbered(root string, n int) []string {
	var found []string
	for _, in := range []string{"*", "*/*"} {
		some, _ := glob.In(filepath.Join(root, "grader", "trial", "_bases"), fmt.Sprintf("%s/*_%d", in, n))
		found = append(found, some...)
	}
	return found
}

var baseLine = regexp.MustCompile(`(?m)^base = "[^"]*"`)

// rebased is a specimen's text with another base.
func rebased(file, base string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err == nil && len(baseLine.FindAll(text, -1)) != 1 {
		err = fmt.Errorf(`%s: expected a single line base = "…"`, file)
	}
	return baseLine.ReplaceAll(text, fmt.Appendf(nil, "base = %q", base)), err
}

// freeze adds, to what is to be written, copies of those of the specimen's bases that have changed, under this
// name, as they were.
func freeze(root string, s trial.Specimen, name string, changed []trial.Base, then map[string][]gate.File, write map[string][]byte) error {
	bases, err := s.Bases(root)
	if err != nil {
		return err
	}
	var made []gate.File
	for _, b := range bases {
		files, err := b.Files(root)
		if slices.ContainsFunc(changed, func(c trial.Base) bool { return c.Path(root) == b.Path(root) }) {
			if then[b.Path(root)] == nil {
				if then[b.Path(root)], err = before(root, b); err != nil {
					return err
				}
			}
			files = then[b.Path(root)]
			for _, f := range files {
				write[filepath.Join(trial.Base{Task: b.Task, Name: name}.Path(root), f.Name)] = f.Data
			}
		}
		if err != nil {
			return err
		}
		made = append(made, files...)
	}
	_, err = s.Change(made)
	return err
}

// before finds the base's files in the last commit that has them as its hashes say.
func before(root string, b trial.Base) ([]gate.File, error) {
	solution := b.Task.Dir + "/solution"
	commits, err := exec.Command("git", "-C", root, "log", "--format=%H", "--", solution).Output()
	if err != nil {
		return nil, fmt.Errorf("git log: %w", err)
	}
	for _, commit := range strings.Fields(string(commits)) {
		files, err := at(root, commit, solution, b)
		if err != nil || files != nil {
			return files, err
		}
	}
	return nil, fmt.Errorf("no commit has %s as %s.toml says: undo the change, run this, and make it again", solution, b.Path(root))
}

// at are the base's files at a commit, or nil if they are not those of its hashes.
func at(root, commit, solution string, b trial.Base) ([]gate.File, error) {
	tree, err := os.MkdirTemp("", "renew")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tree)
	out, err := exec.Command("sh", "-c", `git -C "$1" archive "$2" "$3" | tar -x -C "$4"`, "sh", root, commit, solution, tree).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("git archive %s %s: %w: %s", commit, solution, err, out)
	}
	if same, err := b.Same(tree); err != nil || !same {
		return nil, nil // another set of files, maybe
	}
	return b.Files(tree)
}
