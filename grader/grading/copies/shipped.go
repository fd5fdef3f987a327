package copies

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

// staysBehind are folders and files of the course that no student has. A test of the release sees to it that all
// that it ships is compared with.
var staysBehind = []string{"out", "docs", "device/corpus", "device/devicetest", "device/include/split.h", "attn/attntest/both.go", "attn/attntest/overlapping.go", "grader/bench/ways", "grader/class", "grader/command/instructor", "grader/release", "grader/trial",
	"grader/grading/judge/judgetest", "nn/half", "grader/slurm/slurmtest", "grader/tasks/skeleton"}

// Shipped are the sources in a tree that students have and do not write themselves. own are theirs.
func Shipped(root string, own []string) (map[string][]byte, error) {
	files := map[string][]byte{}
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "solution" || d.Name() == rubric.VariantsDir || d.Name() == "testdata" || slices.Contains(staysBehind, name)) {
				return fs.SkipDir
			}
			return nil
		}
		_, _, ofTask := registry.All.Owner(name)
		if !d.Type().IsRegular() || !slices.Contains([]string{".go", ".cu", ".cuh", ".h"}, path.Ext(name)) || slices.Contains(own, name) || slices.Contains(staysBehind, name) || strings.HasSuffix(name, "_test.go") && !ofTask {
			return nil
		}
		files[name], err = fs.ReadFile(tree, name)
		return err
	})
	return files, err
}

var (
	mu     sync.Mutex
	loaded = map[string]*Library{}
)

// Of is the library of a tree. It is read once: a batch asks for it once a task and submission.
func Of(root string, own []string) (*Library, error) {
	mu.Lock()
	defer mu.Unlock()
	if l := loaded[root]; l != nil {
		return l, nil
	}
	files, err := Shipped(root, own)
	if err != nil {
		return nil, err
	}
	loaded[root] = NewLibrary(files)
	return loaded[root], nil
}
