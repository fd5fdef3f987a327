package handouts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/release"
	"flashlab/grader/trial"
)

// Tree is a release of the last commit, in which commands run as a student's do.
type Tree struct {
	root   string
	folder string
	tasks  []*rubric.Task
	stubs  map[string][]byte // what may be handed in, as it was released
}

// Make makes a release in dir.
func Make(ctx context.Context, root, dir string) (*Tree, error) {
	tasks, err := rubric.LoadAll(root)
	if err != nil {
		return nil, err
	}
	if tasks, err = rubric.WithWarmUp(root, tasks); err != nil {
		return nil, err
	}
	released, err := release.Make(ctx, root, "2027.1", release.Year{})
	if err != nil {
		return nil, err
	}
	t := &Tree{root: root, tasks: tasks, stubs: map[string][]byte{}}
	if t.folder, _, err = released.Write(dir); err != nil {
		return nil, err
	}
	for _, task := range tasks {
		for _, name := range task.Files {
			name = filepath.Join(task.Dir, name)
			if text, is := released.Contents[name]; is {
				t.stubs[name] = text
			}
		}
	}
	return t, nil
}

// Page is the text of a page as students have it.
func (t *Tree) Page(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(t.folder, name))
	return string(text), err
}

// Renewed is the page of one task with what its commands print now.
func (t *Tree) Renewed(ctx context.Context, task *rubric.Task, page string) (string, error) {
	said := map[string]string{} // a command is run once for all of its quotes
	return Renewed(page, func(q Quote) (string, error) {
		key := q.Whose + " " + q.Command
		if text, before := said[key]; before {
			return text, nil
		}
		if err := t.lay(task, q.Whose); err != nil {
			return "", err
		}
		text, err := t.print(ctx, q.Command)
		said[key] = text
		return text, err
	})
}

// print runs a command and returns what it prints. Its exit code says that points were lost, and not that it failed.
func (t *Tree) print(ctx context.Context, command string) (string, error) {
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Dir = t.folder
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	// A make that started this one hands its variables to those below it: they are of no concern to a student's.
	// What was compiled before, by content: the simulator's and the kernels' caches.
	cmd.Env = append(os.Environ(), "FLASHLAB_CACHE="+filepath.Join(t.root, "out", "cache"), "FLASHLAB_ALL=", "FLASHLAB_FRESH=", "GOFLAGS=", "MAKEFLAGS=", "MFLAGS=", "MAKEOVERRIDES=")
	err := cmd.Run()
	if _, ended := err.(*exec.ExitError); ended && ctx.Err() == nil {
		err = nil
	}
	return out.String(), err
}

// ofSolutions is a header that solutions alone include.
const ofSolutions = "device/include/split.h"

// lay writes the files of the stubs, of all solutions, or of all solutions but for one task's mutant.
func (t *Tree) lay(task *rubric.Task, whose string) error {
	files := map[string][]byte{}
	for name, text := range t.stubs {
		files[name] = text
	}
	if whose != "stub" {
		// What solutions of several tasks share is in no release.
		text, err := os.ReadFile(filepath.Join(t.root, ofSolutions))
		if err != nil {
			return err
		}
		files[ofSolutions] = text
		for _, one := range t.tasks {
			for _, name := range one.Files {
				text, err := os.ReadFile(filepath.Join(t.root, one.Solution(), name))
				if err != nil {
					return err
				}
				files[filepath.Join(one.Dir, name)] = text
			}
		}
	}
	if name, is := strings.CutPrefix(whose, "mutant "); is {
		mutant, err := trial.Find(t.root, trial.Mutants, task, name)
		if err != nil {
			return fmt.Errorf("mutant %s: %w", name, err)
		}
		made, err := mutant.Made(t.root)
		if err != nil {
			return err
		}
		for _, f := range made {
			files[filepath.Join(f.Task, f.Name)] = f.Data
		}
	}
	for name, text := range files {
		if err := t.write(name, text); err != nil {
			return err
		}
	}
	return t.drop(files)
}

// drop removes what may be handed in and is not there now: a stub lacks some of a solution's files.
func (t *Tree) drop(files map[string][]byte) error {
	names := []string{ofSolutions}
	for _, one := range t.tasks {
		for _, name := range one.Files {
			names = append(names, filepath.Join(one.Dir, name))
		}
	}
	for _, name := range names {
		if _, is := files[name]; is {
			continue
		}
		if err := os.Remove(filepath.Join(t.folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// write leaves a file alone that is so already: what is built from it need not be built again.
func (t *Tree) write(name string, text []byte) error {
	path := filepath.Join(t.folder, name)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	return os.WriteFile(path, text, 0o644)
}
