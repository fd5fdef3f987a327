package build

import (
	"os"
	"path/filepath"
	"strings"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/cache"
)

// VersionOverlay writes a version's files to a folder, and puts them over the task's stub.
func VersionOverlay(root string, t *rubric.Task, name, dir string) (Overlay, error) {
	files, err := VersionFiles(root, t, name)
	if err != nil {
		return nil, err
	}
	o := Overlay{}
	for _, f := range files {
		o[filepath.Join(root, f.Task, f.Name)] = filepath.Join(dir, f.Name)
	}
	return o, write(files, dir)
}

// WriteVersions writes the versions of all tasks to a folder, for compilers: the kernels that are not the
// solution's, and all headers.
func WriteVersions(root string, tasks []*rubric.Task, dir string) error {
	for _, t := range tasks {
		for _, name := range Versions(root, t) {
			all, err := VersionFiles(root, t, name)
			if err != nil {
				return err
			}
			var files []gate.File
			for _, f := range all {
				if strings.HasPrefix(filepath.Ext(f.Name), ".cu") && (OfVersions(f) || filepath.Ext(f.Name) == ".cuh") {
					files = append(files, f)
				}
			}
			if err := write(files, filepath.Join(dir, t.Dir, "solution", "_versions", name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func write(files []gate.File, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := cache.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
