package build

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/device"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
)

// Kernels are the files that a worker may have compiled. The grader hands them to the device when the worker
// starts: the submission's as they passed the gate, and the course's from its own tree. The worker has no text
// of any, and names them.
type Kernels struct {
	own     string                       // the task's folder
	folders map[string]map[string]string // texts by folder and name
}

// KernelsOf are a task's: the submission's, those that its tasks provide, and those that the course gives its worker.
func KernelsOf(root string, t *rubric.Task, files []gate.File) (*Kernels, error) {
	k := &Kernels{own: t.Dir, folders: map[string]map[string]string{}}
	for _, f := range files {
		if isKernel(f.Name) && !f.Ladder { // a ladder's headers come with the kernels that include them (gate.Rules)
			k.add(f.Task, f.Name, string(f.Data))
		}
	}
	for _, one := range t.All() {
		for _, name := range one.Provided {
			if isKernel(name) {
				if err := k.read(root, filepath.Join(one.Dir, name)); err != nil {
					return nil, err
				}
			}
		}
		if err := k.give(root, one.Given...); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// With are these and all of some folders, or single files, of the course's.
func (k *Kernels) With(root string, more ...string) (*Kernels, error) {
	wider := &Kernels{own: k.own, folders: maps.Clone(k.folders)}
	return wider, wider.give(root, more...)
}

func (k *Kernels) give(root string, more ...string) error {
	for _, one := range more {
		if isKernel(one) {
			if err := k.read(root, one); err != nil {
				return err
			}
			continue
		}
		found, err := os.ReadDir(filepath.Join(root, one))
		if err != nil {
			return fmt.Errorf("the course's kernels: %w", err)
		}
		for _, f := range found {
			if isKernel(f.Name()) {
				if err := k.read(root, filepath.Join(one, f.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (k *Kernels) read(root, path string) error {
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return fmt.Errorf("the course's kernels: %w", err)
	}
	k.add(filepath.ToSlash(filepath.Dir(path)), filepath.Base(path), string(text))
	return nil
}

func (k *Kernels) add(folder, name, text string) {
	files := maps.Clone(k.folders[folder])
	if files == nil {
		files = map[string]string{}
	}
	files[name] = text
	k.folders[folder] = files
}

func isKernel(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".cu" || ext == rubric.Header
}

// Find gives the file that a worker names, with its text and the headers beside it. Without a folder, the file is the task's.
func (k *Kernels) Find(named device.Source) (device.Source, error) {
	if named.Folder == "" {
		named.Folder = k.own
	}
	files := k.folders[named.Folder]
	text, ok := files[named.Name]
	if !ok || filepath.Ext(named.Name) != ".cu" {
		return named, fmt.Errorf("compile: there is no %q for this worker: it may name %s", filepath.Join(named.Folder, named.Name), strings.Join(k.names(), ", "))
	}
	named.Text, named.Files = text, nil
	for name, text := range files {
		if filepath.Ext(name) == rubric.Header {
			if named.Files == nil {
				named.Files = map[string]string{}
			}
			named.Files[name] = text
		}
	}
	return named, nil
}

// names lists what may be named, the task's own first.
func (k *Kernels) names() (all []string) {
	folders := slices.Sorted(maps.Keys(k.folders))
	slices.SortStableFunc(folders, func(a, b string) int {
		switch k.own {
		case a:
			return -1
		case b:
			return 1
		}
		return 0
	})
	for _, folder := range folders {
		for _, name := range slices.Sorted(maps.Keys(k.folders[folder])) {
			if filepath.Ext(name) == ".cu" {
				all = append(all, filepath.Join(folder, name))
			}
		}
	}
	return all
}
