package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"flashlab/grader/tasks/registry"
	"flashlab/internal/cache"
	"flashlab/internal/glob"
	"flashlab/internal/jail"
)

// Stage is a copy of only the part of the tree that workers are made of: it contains
// no solution, hidden case, mutant or other submission. Builds in a sandbox see it
// and a warm build cache, and cannot change either.
type Stage struct {
	Root  string // the copy, with its own go.mod
	cache string // a build cache that holds all but the submission
	layer string // the program that reads it, and writes elsewhere
	tags  string
	env   []string // of the go command, but for its build cache
	reads []string // what else it reads
}

// toolchain is what `go env` says of the go command.
type toolchain struct{ GOROOT, GOVERSION, GOCACHE string }

// stages are those that this process has already seen: its tree does not change.
var stages sync.Map

// stageOf is NewStage, once for each of its arguments.
func stageOf(ctx context.Context, root, tags string, env []string) (*Stage, error) {
	key := cache.Key(append([]string{root, tags}, env...)...)
	if s, ok := stages.Load(key); ok {
		return s.(*Stage), nil
	}
	s, err := NewStage(ctx, root, tags, env)
	if err == nil {
		stages.Store(key, s)
	}
	return s, err
}

// NewStage copies the packages of all workers, or finds an earlier copy. env is
// added to the environment, as for Worker.
func NewStage(ctx context.Context, root, tags string, env []string) (*Stage, error) {
	var tc toolchain
	out, err := goOutput(ctx, root, nil, "env", "-json", "GOROOT", "GOVERSION", "GOCACHE")
	if err == nil {
		err = json.Unmarshal(out, &tc)
	}
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	files, err := staged(ctx, root, tags, env)
	if err != nil {
		return nil, err
	}
	base, err := cache.Dir()
	if err != nil {
		return nil, err
	}
	key := []string{"stage 5", tc.GOVERSION}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(root, f))
		if err != nil {
			return nil, err
		}
		key = append(key, f, string(text))
	}
	// The copy's name is part of what the go command keeps of its packages: the same files have the same
	// copy, whatever they are built with.
	name := cache.Key(key...)
	// One cache for all stages: the standard library is the same in most of them, and the go command
	// keeps track of the tags and flags that a package was compiled with.
	shared := "gocache-" + cache.Key(tc.GOVERSION, "layers 1")
	s := &Stage{Root: filepath.Join(base, "stage-"+name), cache: filepath.Join(base, shared), layer: filepath.Join(base, "layers-"+name), tags: tags}
	s.env = append(slices.Clone(env), "PATH="+filepath.Join(tc.GOROOT, "bin")+":"+os.Getenv("PATH"), "HOME=/tmp", "GOPATH=/tmp/gopath",
		"GOROOT="+tc.GOROOT, "GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOENV=off", "GOTELEMETRY=off", "GOFLAGS=", "GOWORK=off")
	s.reads = []string{tc.GOROOT, s.Root, s.cache, s.layer}
	return s, cache.Once(base, "stage-"+name, func() error {
		if _, err := os.Stat(s.Root); err != nil {
			if err := copyWhole(ctx, root, files, s.Root); err != nil {
				return fmt.Errorf("copy of the tree for builds: %w", err)
			}
		}
		warm := filepath.Join(base, "warm-"+cache.Key(name, tags, strings.Join(env, "\n")))
		if _, err := os.Stat(warm); err == nil {
			return nil
		}
		if out, err := goOutput(ctx, root, []string{"CGO_ENABLED=0"}, "build", "-o", s.layer, "./grader/grading/build/layers"); err != nil {
			return fmt.Errorf("the build cache's program: %w%s", err, out)
		}
		if err := s.warm(ctx, tc.GOCACHE); err != nil {
			return err
		}
		return cache.WriteFile(warm, nil, 0o644)
	})
}

// goOutput runs the go command on the course's own tree.
func goOutput(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOFLAGS=", "GOWORK=off"), env...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(complaint.String()))
	}
	return out, nil
}

// staged lists the files of this module that workers are built from, relative to
// the root.
func staged(ctx context.Context, root, tags string, env []string) ([]string, error) {
	out, err := goOutput(ctx, root, append(cgoFor(tags), env...), "list", "-deps", "-tags", tagsOf(tags),
		"-json=Dir,Module,GoFiles,CgoFiles,CFiles,HFiles,SFiles,EmbedFiles", "./grader/tasks/.../worker")
	if err != nil {
		return nil, fmt.Errorf("go list of the workers: %w", err)
	}
	files := []string{"go.mod", "go.sum"}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir                                                   string
			Module                                                *struct{ Main bool }
			GoFiles, CgoFiles, CFiles, HFiles, SFiles, EmbedFiles []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list of the workers: %w", err)
		}
		if p.Module == nil || !p.Module.Main {
			continue
		}
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		for _, f := range slices.Concat(p.GoFiles, p.CgoFiles, p.CFiles, p.HFiles, p.SFiles, p.EmbedFiles) {
			files = append(files, filepath.Join(dir, f))
		}
	}
	if tags != "" { // headers that only the C compiler looks for
		more, err := glob.In(filepath.Join(root, "device", "cuda", "compat"), "*")
		if err != nil {
			return nil, err
		}
		for _, f := range more {
			files = append(files, strings.TrimPrefix(f, root+string(filepath.Separator)))
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// copyWhole copies files into a new folder, and the modules that they need with
// them, or leaves none.
func copyWhole(ctx context.Context, root string, files []string, to string) error {
	temp, err := os.MkdirTemp(filepath.Dir(to), ".stage-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	vendored := os.DirFS(filepath.Join(root, "vendor")) // where a machine without a network has its modules
	_, missing := fs.Stat(vendored, "modules.txt")
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(root, f))
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(temp, filepath.Dir(f)), 0o755); err != nil {
			return err
		}
		if f == "go.mod" && missing != nil { // its tools are not part of a worker
			text = toolLine.ReplaceAll(text, nil)
		}
		if err := os.WriteFile(filepath.Join(temp, f), text, 0o644); err != nil {
			return err
		}
	}
	if missing == nil {
		err = os.CopyFS(filepath.Join(temp, "vendor"), vendored)
	} else if _, err = goOutput(ctx, temp, nil, "mod", "vendor"); err != nil {
		err = fmt.Errorf("go mod vendor: %w", err)
	}
	if err != nil {
		return err
	}
	return os.Rename(temp, to)
}

var toolLine = regexp.MustCompile(`(?m)^tool .*$`)

// warm fills the build cache with the course's own code, and with what the go command's own cache has
// of it: Go's library. A worker that does not build does not matter here: a submission will replace
// what is wrong.
func (s *Stage) warm(ctx context.Context, own string) error {
	if err := os.MkdirAll(s.cache, 0o755); err != nil {
		return err
	}
	args := []string{"list", "-e", "-export", "-deps", "-f", "", "-tags", tagsOf(s.tags)} // compiles, and links nothing
	for _, t := range registry.All {
		w := t.Worker()
		if _, err := os.Stat(filepath.Join(s.Root, w)); err != nil {
			return fmt.Errorf("the worker of task %s is not in the copy: %w", t.Name, err)
		}
		args = append(args, w)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = s.Root
	cmd.Env = append(s.environment(), cacheProgram(s.layer, "-from", own, s.cache))
	_ = cmd.Run() // stubs need not build
	return ctx.Err()
}

// builds tells whether a task's worker builds without the submission, in the same sandbox. It has
// its own time limit: the submission may have used up most of the other.
func (s *Stage) builds(ctx context.Context, r Request, dir string) bool {
	ctx, cancel := context.WithTimeout(ctx, r.Task.Limits.BuildTime())
	defer cancel()
	own, err := os.MkdirTemp(dir, "without-*")
	if err != nil {
		return false
	}
	cmd, err := s.command(ctx, r, own, buildArgs("", r.tags(), os.DevNull, r.worker()))
	return err == nil && cmd.Run() == nil
}

// command is a build's in the sandbox, which may change dir and nothing else.
func (s *Stage) command(ctx context.Context, r Request, dir string, args []string) (*exec.Cmd, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return nil, err
	}
	return r.Jail(ctx, jail.Program{Path: path, Args: args, Dir: s.Root, Read: append(slices.Clone(s.reads), path), Write: []string{dir},
		Env: s.environment(dir), CPU: r.Task.Limits.BuildTime() * 2, Memory: buildMemory})
}

// buildMemory limits a build: the compiler takes about 100 MB for each processor.
const buildMemory = 4 << 30

// environment is a go command's. Its build cache is the warm one and own, which gets
// what is new; without own that is the warm one itself.
func (s *Stage) environment(own ...string) []string {
	return append(slices.Concat(s.env, cgoFor(s.tags)), "GOCACHE="+s.cache, cacheProgram(append([]string{s.layer, s.cache}, own...)...))
}

// cacheProgram is the go command's setting: a program with its arguments, in quotes, for a folder's
// name may have spaces.
func cacheProgram(words ...string) string { return `GOCACHEPROG="` + strings.Join(words, `" "`) + `"` }
