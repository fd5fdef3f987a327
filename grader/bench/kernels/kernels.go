// Package kernels tells whether code that was timed is still the code that is here, by a hash of it. Comments, blanks
// and line breaks do not count, nor does the machine: no compiler has a part in it.
package kernels

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/grading/build"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

// Of are the hashes of all code that the reference's page has rows of.
type Of struct {
	versions map[registry.Name]map[string]string
	models   map[registry.Name]string
}

// Solution is the hash of a version of a task's solution; "" is the solution itself. It is "" for what is not here.
func (o Of) Solution(task registry.Name, version string) string { return o.versions[task][version] }

// Model is the hash of all code that a task's models run.
func (o Of) Model(task registry.Name) string { return o.models[task] }

// headers are the folders of the course's own: those that a GPU's compiler is given.
var headers = []string{"device/include", "device/nvcc/include"}

// ofModels are the folders whose kernels a task's models run.
var ofModels = map[registry.Name][]string{"6": {"nn", "nn/llama"}, "7": {"nn", "nn/gpt2", "nn/gpt2/persistent", "nn/persistent"},
	"b9": {"nn", "nn/half", "nn/half/decoder/persistent", "nn/persistent"}}

// used are the tasks whose solutions they run.
var used = map[registry.Name][]registry.Name{"6": {"4", "5", "6"}, "7": {"4", "5", "6"}, "b9": {"b2", "b6", "b7", "b8"}}

// Read reads the code of tasks.
func Read(root string, tasks []*rubric.Task) (o Of, err error) {
	o = Of{map[registry.Name]map[string]string{}, map[registry.Name]string{}}
	parts := map[registry.Name]string{}
	for _, t := range tasks {
		all := map[string]string{}
		for _, name := range append(build.Versions(root, t), "") {
			files, err := filesOf(root, t, name)
			if err != nil {
				return o, fmt.Errorf("task %s: the code of version %q: %w", t.Name, name, err)
			}
			if all[name], err = hash(root, files); err != nil {
				return o, err
			}
		}
		o.versions[t.Name], parts[t.Name] = all, all[""]
	}
	for task, folders := range ofModels {
		var files []gate.File
		for _, dir := range folders {
			more, err := kernelsIn(root, dir)
			if err != nil {
				return o, err
			}
			files = append(files, more...)
		}
		sum, err := hash(root, files)
		if err != nil {
			return o, err
		}
		for _, name := range used[task] {
			sum += parts[name]
		}
		o.models[task] = short(sum)
	}
	return o, nil
}

// filesOf are a version's: the student's files as it has them, and kernels that the task provides. What nothing timed
// runs is not among them.
func filesOf(root string, t *rubric.Task, version string) (files []gate.File, err error) {
	if version != "" {
		files, err = build.VersionFiles(root, t, version)
	} else {
		for _, name := range t.Files {
			files, err = add(files, root, t.Solution(), name, err)
		}
	}
	for _, name := range t.Provided {
		if isKernel(name) {
			files, err = add(files, root, t.Dir, name, err)
		}
	}
	return slices.DeleteFunc(files, func(f gate.File) bool { return slices.Contains(t.Bench.Untimed, f.Name) }), err
}

func add(files []gate.File, root, dir, name string, err error) ([]gate.File, error) {
	if err != nil {
		return files, err
	}
	data, err := os.ReadFile(filepath.Join(root, dir, name))
	if errors.Is(err, fs.ErrNotExist) { // a solution need not have all files of honours
		return files, nil
	}
	return append(files, gate.File{Name: name, Data: data}), err
}

func isKernel(name string) bool { return strings.HasPrefix(filepath.Ext(name), ".cu") }

// kernelsIn are the kernels and headers of one folder.
func kernelsIn(root, dir string) (files []gate.File, err error) {
	entries, err := os.ReadDir(filepath.Join(root, dir))
	for _, e := range entries {
		if isKernel(e.Name()) {
			files, err = add(files, root, dir, e.Name(), err)
		}
	}
	return files, err
}

// hash is of files by their names, so that what moves from one to another counts.
func hash(root string, files []gate.File) (string, error) {
	own := map[string]string{}
	for _, dir := range headers {
		entries, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) != ".h" {
				continue
			}
			text, err := os.ReadFile(filepath.Join(root, dir, e.Name()))
			if err != nil {
				return "", err
			}
			own[e.Name()] = string(text)
		}
	}
	for _, f := range files {
		if filepath.Ext(f.Name) == ".cuh" {
			own[f.Name] = string(f.Data)
		}
	}
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b gate.File) int { return strings.Compare(a.Name, b.Name) })
	var all strings.Builder
	for _, f := range files {
		switch filepath.Ext(f.Name) {
		case ".cu":
			fmt.Fprintf(&all, "%s\n%s\n", f.Name, cuda(string(f.Data), func(name string) string { return own[name] }))
		case ".go":
			fmt.Fprintf(&all, "%s\n%s\n", f.Name, goCode(string(f.Data)))
		}
	}
	return short(all.String()), nil
}

func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}
