package main

import (
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"flashlab/internal/repo"
)

// starts tells whether a file starts a goroutine: by a go statement, or by Go of a WaitGroup or an errgroup.
func starts(file *ast.File) bool {
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			if method, ok := n.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Go" && len(n.Args) == 1 {
				found = true
			}
		}
		return !found
	})
	return found
}

// TestTheRaceDetectorSeesEveryGoroutine: scripts/race.sh finds by text the packages that start one by Go's syntax.
func TestTheRaceDetectorSeesEveryGoroutine(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	out, err := exec.Command(filepath.Join(root, "scripts", "race.sh"), "list").Output()
	require.NoError(t, err)
	listed := strings.Fields(string(out))
	want := map[string]bool{}
	for name, file := range goFiles(t, token.NewFileSet()) {
		if starts(file) {
			want["./"+filepath.ToSlash(packageOf(name))] = true
		}
	}
	require.Greater(t, len(want), 15)
	for name := range want {
		assert.Contains(t, listed, name)
	}
	assert.LessOrEqual(t, len(listed), len(want)+2, "text in quotes may look like a goroutine, but seldom does: %v", listed)
}

// TestEveryFuzzTargetIsFuzzed: scripts/fuzz.sh finds by text what Go finds by syntax.
func TestEveryFuzzTargetIsFuzzed(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	out, err := exec.Command(filepath.Join(root, "scripts", "fuzz.sh"), "list").Output()
	require.NoError(t, err)
	var want []string
	for name, file := range goFiles(t, token.NewFileSet()) {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") && strings.HasSuffix(name, "_test.go") {
				want = append(want, "./"+filepath.ToSlash(filepath.Dir(name))+" "+f.Name.Name)
				kept, _ := filepath.Glob(filepath.Join(root, filepath.Dir(name), "testdata", "fuzz", f.Name.Name, "*"))
				assert.NotEmpty(t, kept, "%s has no kept corpus", f.Name.Name)
			}
		}
	}
	assert.GreaterOrEqual(t, len(want), 11)
	assert.ElementsMatch(t, want, strings.Split(strings.TrimSpace(string(out)), "\n"))
}

// TestTheWorkflowRunsWhatIsThere: GitHub's workflow calls .ci/run, and names no script or target that is gone.
func TestTheWorkflowRunsWhatIsThere(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, ".github", "workflows", "ci.yml"))
	require.NoError(t, err)
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Run string }
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &workflow))
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	var programs []string
	for job, j := range workflow.Jobs {
		require.NotEmpty(t, j.Steps, job)
		for _, step := range j.Steps {
			words := strings.Fields(step.Run)
			if len(words) == 0 {
				continue
			}
			programs = append(programs, words[0])
			switch dir := path.Dir(words[0]); {
			case words[0] == "make":
				assert.True(t, strings.Contains(string(makefile), "\n"+words[1]+":"), "%s: the Makefile has no such target", step.Run)
			case dir != ".":
				info, err := os.Stat(filepath.Join(root, words[0]))
				if assert.NoError(t, err, step.Run) {
					assert.NotZero(t, info.Mode()&0o111, "%s cannot be run", words[0])
				}
			}
		}
	}
	assert.Contains(t, programs, ".ci/run")
}

// TestWhatDecidesWhetherNvccTakesAFile: scripts/nvcc-check.sh hashes a file as nvcc reads it, with flags and version. Here
// a C++ compiler stands for nvcc's preprocessor.
func TestWhatDecidesWhetherNvccTakesAFile(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip(err)
	}
	root, err := repo.Root()
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(root, "out", "bin", "grader")); err != nil {
		t.Skip("make builds the grader, which finds nvcc: ", err)
	}
	home := t.TempDir()
	put := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
	}
	toolkit := func(version string) {
		put(filepath.Join(home, "bin", "nvcc"), `#!/bin/bash
case "$*" in
*--version*) echo "Cuda compilation tools, release 13.0, `+version+`" ;;
*-cubin*) ;;
*) args=(); for a in "$@"; do case $a in -gencode* | -allow* | -x | cu) ;; *) args+=("$a") ;; esac; done; exec g++ -x c++ "${args[@]}" ;;
esac
`)
	}
	toolkit("V13.0.1")
	folder, err := os.MkdirTemp(filepath.Join(root, "out"), "hashed-") // what is outside of the tree goes with the version
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	kernel, header, outside := filepath.Join(folder, "k.cu"), filepath.Join(folder, "mine.cuh"), filepath.Join(home, "theirs.h")
	put(kernel, "#include \"mine.cuh\"\n#include <theirs.h>\nint k = VALUE;\n")
	put(header, "int mine;\n")
	put(outside, "int theirs;\n")
	name, err := filepath.Rel(root, kernel)
	require.NoError(t, err)
	hash := func(flags ...string) string {
		cmd := exec.Command(filepath.Join(root, "scripts", "nvcc-check.sh"), append([]string{"hash", name, "-I", home}, flags...)...)
		cmd.Env = append(os.Environ(), "CUDA_HOME="+home)
		out, err := cmd.Output()
		require.NoError(t, err, string(out))
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		last := lines[len(lines)-1]
		require.Regexp(t, "^[0-9a-f]{16}$", last)
		return last
	}
	seen := map[string]string{hash("-DVALUE=1"): "as it was"}
	changed := func(what, hash string) {
		assert.Empty(t, seen[hash], "%s leaves the hash", what)
		seen[hash] = what
	}
	changed("a macro", hash("-DVALUE=2"))
	changed("a flag", hash("-DVALUE=1", "-DUNUSED"))
	put(outside, "int theirs, more;\n")
	assert.NotEmpty(t, seen[hash("-DVALUE=1")], "a toolkit's header goes with its version")
	put(header, "int mine, more;\n")
	changed("a header", hash("-DVALUE=1"))
	put(kernel, "#include \"mine.cuh\"\n#include <theirs.h>\nint another = VALUE;\n")
	changed("the file", hash("-DVALUE=1"))
	toolkit("V13.0.2")
	changed("nvcc", hash("-DVALUE=1"))
}
