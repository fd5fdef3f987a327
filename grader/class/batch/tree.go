package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/cache"
)

// Tree names everything in the course's tree that a measurement may depend on: the sources, without
// tests and the files that submissions bring themselves, and the rubrics, without points.
type Tree struct {
	Common string            // what every task's measurement depends on
	Tasks  map[string]string // what that of one task does, by its folder
}

// Of names what the measurement of one task depends on. What belongs to another task, and is not used
// by this one, is not part of it.
func (t Tree) Of(task *rubric.Task) string {
	parts := []string{"tree", t.Common}
	for _, one := range task.All() {
		parts = append(parts, one.Dir, t.Tasks[one.Dir])
	}
	return cache.Key(append(parts, task.Measured())...)
}

// Whole names all of it.
func (t Tree) Whole() string {
	parts := []string{"trees", t.Common}
	for _, dir := range slices.Sorted(maps.Keys(t.Tasks)) {
		parts = append(parts, dir, t.Tasks[dir])
	}
	return cache.Key(parts...)
}

// beside are folders that no measurement depends on: they show, sum up or start what was measured.
var beside = []string{"grader/bench", "grader/class", "grader/command", "grader/demo", "grader/edition", "grader/grading/marks", "grader/grading/report", "grader/release",
	"grader/slurm", "grader/trial", "out", "docs"}

// FingerprintOf reads the tree.
func FingerprintOf(root string, tasks []*rubric.Task) (Tree, error) {
	own := handin.Names(tasks)
	rooms := map[string]string{} // a task's folder and room, and that folder
	for _, t := range tasks {
		rooms[t.Dir], rooms[registry.Task{Name: t.Name, Dir: t.Dir}.Room()] = t.Dir, t.Dir
	}
	tree := Tree{Tasks: map[string]string{}}
	common, byTask := sha256.New(), map[string][]byte{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "solution", rubric.VariantsDir}, d.Name()) || slices.Contains(beside, name)) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || !slices.Contains([]string{".go", ".cu", ".cuh", ".cpp", ".h", ".c", ".toml", ".mod"}, filepath.Ext(name)) ||
			strings.HasSuffix(name, "_test.go") || slices.Contains(own, name) {
			return nil
		}
		of := owner(rooms, name)
		if of != "" && d.Name() == "rubric.toml" {
			return nil // rubric.Task.Measured says what matters of it
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s\x00%d\x00%s", name, len(data), data)
		if of == "" {
			common.Write([]byte(text))
			return nil
		}
		byTask[of] = append(byTask[of], text...)
		return nil
	})
	tree.Common = hex.EncodeToString(common.Sum(nil))
	for dir, text := range byTask {
		sum := sha256.Sum256(text)
		tree.Tasks[dir] = hex.EncodeToString(sum[:])
	}
	return tree, err
}

// owner is the folder of the task that a file belongs to; "" if it is everybody's.
func owner(rooms map[string]string, name string) string {
	for place, dir := range rooms {
		if strings.HasPrefix(name, place+"/") {
			return dir
		}
	}
	return ""
}
