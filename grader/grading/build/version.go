package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/device"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
)

// versionsDir has a name that `go build ./...` ignores. A version's folder there holds the files that
// differ from the next version's, and at last from the solution's: whole, or as NAME.diff where little
// does. Beside the folders lies what versions share: Go files and headers.
func versionsDir(root string, t *rubric.Task) string {
	return filepath.Join(root, t.Dir, "solution", "_versions")
}

// Versions lists the earlier versions of a task's solution, the simplest first.
func Versions(root string, t *rubric.Task) (names []string) {
	entries, _ := os.ReadDir(versionsDir(root, t)) // most tasks have none
	for _, e := range entries {
		// An empty folder is what git leaves of a version that got another name.
		files, _ := os.ReadDir(filepath.Join(versionsDir(root, t), e.Name()))
		if len(files) > 0 {
			names = append(names, e.Name())
		}
	}
	return names
}

// Version puts an earlier version's files in place of the solution's own, and adds what versions share:
// all Go files, and the headers that its kernels include.
func Version(root string, t *rubric.Task, name string, solution []gate.File) ([]gate.File, error) {
	names := Versions(root, t)
	at := slices.Index(names, name)
	if at < 0 {
		return nil, fmt.Errorf("the solution of task %s has no version %q; it has %q", t.Name, name, names)
	}
	files := slices.Clone(solution)
	var shared []gate.File
	for i := range files {
		if files[i].Task != t.Dir {
			continue
		}
		for _, from := range slices.Backward(names[at:]) { // from the solution down
			more, err := earlier(&files[i], root, filepath.Join(t.Dir, "solution", "_versions", from))
			if err != nil {
				return nil, err
			}
			if more != nil {
				shared = more
			}
		}
	}
	own, err := Shared(root, t)
	if err != nil {
		return nil, err
	}
	shared = append(own, shared...)
	used := usedBy(files, shared)
	for i, f := range shared {
		if used[f.Name] || filepath.Ext(f.Name) == ".go" && i < len(own) {
			files = append(files, f)
		}
	}
	return files, nil
}

// usedBy are the headers among shared that kernels include, by name.
func usedBy(files, shared []gate.File) map[string]bool {
	headers, used := map[string]string{}, map[string]bool{}
	for _, f := range shared {
		headers[f.Name] = string(f.Data)
	}
	for _, f := range files {
		if strings.HasPrefix(filepath.Ext(f.Name), ".cu") {
			for name := range (device.Source{Text: string(f.Data)}).With(headers).Files {
				used[name] = true
			}
		}
	}
	return used
}

// earlier makes a later version's file that of the one in dir, if it has another: whole, or as a diff. Where
// that is a diff of another task's version, shared are what that task's versions share.
func earlier(f *gate.File, root, dir string) (shared []gate.File, err error) {
	path := filepath.Join(dir, f.Name)
	data, err := os.ReadFile(filepath.Join(root, path))
	if errors.Is(err, fs.ErrNotExist) {
		var diff []byte
		if diff, err = os.ReadFile(filepath.Join(root, path+".diff")); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		data = f.Data
		if base := baseOf(diff); base != "" && err == nil {
			if shared, err = sharedIn(root, f.Task, filepath.Dir(filepath.Dir(base))); err == nil {
				data, err = os.ReadFile(filepath.Join(root, base))
			}
		}
		if err == nil {
			data, err = patched(data, diff)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.Path, f.Data = path, data
	return shared, nil
}

// VersionFiles are all files of a version: those of the task, and what versions share.
func VersionFiles(root string, t *rubric.Task, name string) ([]gate.File, error) {
	var files []gate.File
	for _, f := range t.Files {
		path := filepath.Join(t.Solution(), f)
		data, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		files = append(files, gate.File{Task: t.Dir, Name: f, Path: path, Data: data})
	}
	return Version(root, t, name, files)
}

// OfVersions tells whether a file is from the versions' folder: what is not is the solution's.
func OfVersions(f gate.File) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(f.Path), "/"), "_versions")
}

// Shared are the files that a task's versions share.
func Shared(root string, t *rubric.Task) ([]gate.File, error) {
	return sharedIn(root, t.Dir, filepath.Join(t.Dir, "solution", "_versions"))
}

func sharedIn(root, task, dir string) (files []gate.File, err error) {
	entries, _ := os.ReadDir(filepath.Join(root, dir)) // most tasks have none
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		data, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		files = append(files, gate.File{Task: task, Name: e.Name(), Path: path, Data: data, Ladder: true})
	}
	return files, nil
}

// VersionTitle is a version's name for use in a sentence: "2_registers" is
// "version 2, registers".
func VersionTitle(name string) string {
	number, rest, _ := strings.Cut(name, "_")
	return "version " + number + ", " + strings.ReplaceAll(rest, "_", " ")
}
