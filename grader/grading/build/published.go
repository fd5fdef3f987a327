package build

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"flashlab/grader/grading/rubric"
)

// Solution is one that the course has: a task's, a variant's, or an earlier version with what is its own.
type Solution struct {
	Folder string
	Files  map[string][]byte // by the names that students' files have in the tree: "task2_unfused/kernels.cu"
}

// Published are all of a task; none in a tree without solutions.
func Published(root string, t *rubric.Task) (all []Solution, err error) {
	add := func(folder string, files map[string][]byte) {
		if len(files) > 0 {
			all = append(all, Solution{folder, files})
		}
	}
	varied, _ := fs.Glob(os.DirFS(root), path.Join(rubric.VariantDir(t.Dir, "*"), "solution"))
	for _, folder := range append([]string{path.Join(t.Dir, "solution")}, varied...) {
		files, err := TaskFiles(root, t, folder)
		if err != nil {
			return nil, err
		}
		add(folder, files)
	}
	for _, name := range Versions(root, t) {
		version, err := VersionFiles(root, t, name)
		if err != nil {
			return nil, err
		}
		files := map[string][]byte{}
		for _, f := range version {
			if OfVersions(f) {
				files[path.Join(t.Dir, f.Name)] = f.Data
			}
		}
		add(path.Join(t.Dir, "solution", "_versions", name), files)
	}
	return all, nil
}

// TaskFiles reads those of a task's files that students may change, from one folder or another.
func TaskFiles(root string, t *rubric.Task, folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, f := range t.Files {
		data, err := os.ReadFile(filepath.Join(root, folder, f))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			files[path.Join(t.Dir, f)] = data
		}
	}
	return files, nil
}
