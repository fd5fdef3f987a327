package amd

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"flashlab/device/nvcc"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/cache"
)

// limit is for one call of a compiler.
const limit = 5 * time.Minute

// Run compiles all files, two at a time, and tells each that is done.
func Run(ctx context.Context, root string, tasks []*rubric.Task, told func(Result)) ([]Result, error) {
	hipcc, err := exec.LookPath("hipcc")
	if err != nil {
		return nil, fmt.Errorf("there is no hipcc here: on Debian or Ubuntu, as root: apt-get install hipcc (some 0.6 GB; it needs no AMD GPU)")
	}
	dir, err := os.MkdirTemp("", "hip-check")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	headers := filepath.Join(dir, "include")
	if err := unpack(headers); err != nil {
		return nil, err
	}
	all, err := sources(root, filepath.Join(dir, "versions"), tasks)
	if err != nil {
		return nil, err
	}
	c := compilers{hipcc: hipcc, dir: dir, shim: []string{"-include", "cuda_as_hip.h", "-I", headers},
		headers: []string{"-I", filepath.Join(root, "device", "include")}}
	if tk, err := nvcc.Find(); err == nil {
		c.nvcc = tk.Nvcc
	}
	results, failures := make([]Result, len(all)), make([]error, len(all))
	var wait sync.WaitGroup
	var print sync.Mutex
	free := make(chan bool, 2)
	for i, s := range all {
		wait.Add(1)
		free <- true
		go func() {
			defer func() { <-free; wait.Done() }()
			results[i], failures[i] = c.all(ctx, s, i)
			print.Lock()
			defer print.Unlock()
			if failures[i] == nil {
				told(results[i])
			}
		}()
	}
	wait.Wait()
	for _, err := range failures {
		if err != nil {
			return nil, err
		}
	}
	return results, ctx.Err()
}

func unpack(dir string) error {
	names, err := fs.Glob(include, "include/*.h")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		data, err := include.ReadFile(name)
		if err != nil {
			return err
		}
		if err := cache.WriteFile(filepath.Join(dir, filepath.Base(name)), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

type compilers struct {
	hipcc, nvcc, dir string   // nvcc: "" where there is none
	shim             []string // CUDA's names, for hipcc
	headers          []string // the course's
}

func (c compilers) all(ctx context.Context, s source, number int) (r Result, err error) {
	r = Result{Task: s.task.Name, Name: s.name}
	if r.Not, err = s.not(); err != nil || r.Not != "" {
		return r, err
	}
	object := filepath.Join(c.dir, strconv.Itoa(number)+".o")
	for _, chip := range Chips {
		args := []string{"--offload-arch=" + chip.Arch, "--cuda-device-only", "-O3", "-std=c++17", "-x", "hip",
			"-Rpass-analysis=kernel-resource-usage", "-c", "-o", object}
		text, err := c.call(ctx, c.hipcc, slices.Concat(args, c.shim, c.headers, s.flags, []string{s.file}))
		r.Chips = append(r.Chips, readHIP(text, err))
	}
	if c.nvcc != "" {
		args := []string{"-gencode=arch=compute_90a,code=sm_90a", "-O3", "-std=c++17", "-cubin", "-Xptxas", "-v", "-allow-unsupported-compiler", "-o", object, "-x", "cu"}
		text, err := c.call(ctx, c.nvcc, slices.Concat(args, c.headers, s.flags, []string{s.file}))
		n := readNVCC(text, err)
		r.NVCC = &n
	}
	return r, ctx.Err()
}

func (c compilers) call(ctx context.Context, program string, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), "LC_ALL=C")
	cmd.WaitDelay = 2 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = fmt.Errorf("%s did not end within %v", filepath.Base(program), limit)
	}
	return string(out), err
}

var (
	remark    = regexp.MustCompile(`remark: (?:[^ ]+: )?\s*([A-Za-z ]+?)(?: \[[^]]*\])?: (\S+)`)
	complaint = regexp.MustCompile(`(?m)^(?:.*?: )?(?:ptxas |fatal )?error *: (.*)$`)
	entry     = regexp.MustCompile(`Compiling entry function '([^']+)'|(\d+) bytes spill stores|Used (\d+) registers|(\d+) bytes smem`)
)

// readHIP reads what clang remarks of each kernel.
func readHIP(text string, failed error) Compiled {
	c := Compiled{Uses: map[string]Use{}}
	if failed != nil {
		c.Failed = first(text, failed)
		return c
	}
	name := ""
	for _, m := range remark.FindAllStringSubmatch(text, -1) {
		if m[1] == "Function Name" {
			name = m[2]
			if _, had := c.Uses[name]; !had {
				c.Kernels = append(c.Kernels, name)
			}
			c.Uses[name] = Use{}
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil || name == "" {
			continue
		}
		u := c.Uses[name]
		switch m[1] {
		case "VGPRs", "AGPRs":
			u.Registers += n
		case "ScratchSize":
			u.Scratch = n
		case "LDS Size":
			u.Shared = n
		case "Occupancy":
			u.Waves = n
		}
		c.Uses[name] = u
	}
	return c
}

// readNVCC reads what ptxas says of each kernel.
func readNVCC(text string, failed error) Compiled {
	c := Compiled{Uses: map[string]Use{}}
	if failed != nil {
		c.Failed = first(text, failed)
		return c
	}
	name := ""
	for _, m := range entry.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			name = m[1]
			c.Kernels = append(c.Kernels, name)
			continue
		}
		u := c.Uses[name]
		for i, into := range []*int{&u.Scratch, &u.Registers, &u.Shared} {
			if m[i+2] != "" {
				*into, _ = strconv.Atoi(m[i+2])
			}
		}
		c.Uses[name] = u
	}
	return c
}

func first(text string, failed error) string {
	if m := complaint.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1])
	}
	return failed.Error()
}
