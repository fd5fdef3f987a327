// Package nvcc finds NVIDIA's compiler and turns .cu files into machine code
// for one GPU. It needs neither a GPU nor cgo, so it can be used anywhere, to build
// and to grade.
package nvcc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"flashlab/device/modules"
	"flashlab/device/preprocess"
	"flashlab/internal/jail"
)

// ErrNoToolkit says that there is no nvcc on this machine.
var ErrNoToolkit = errors.New("no CUDA toolkit on this machine")

// Toolkit is an installed CUDA toolkit.
type Toolkit struct {
	Nvcc    string // the compiler
	Version string // "13.0.88"
	Include string // the folder of cuda.h; "" where the toolkit has none
	LibDir  string // the folder of libcuda.so, the driver's own or a stub to link against; "" where there is none
	// Jail runs the compiler on kernels in a sandbox; nil: as it is.
	Jail jail.CommandFunc
	// Vet may refuse what a file comes to when it is preprocessed; nil: nothing is refused.
	Vet func(preprocess.Text) error
	// Own is where machine code is kept that is not everybody's; nil: all of it is in the cache.
	Own *modules.Own
}

// places are where a toolkit may lie, first match wins. The environment goes
// first, so that several versions can be installed side by side.
func places() []string {
	var found []string
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if dir := os.Getenv(name); dir != "" {
			found = append(found, filepath.Join(dir, "bin", "nvcc"))
		}
	}
	if path, err := exec.LookPath("nvcc"); err == nil {
		found = append(found, path)
	}
	return append(found, "/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc")
}

// Find looks for a toolkit in CUDA_HOME, CUDA_PATH, PATH and the usual places.
func Find() (*Toolkit, error) {
	looked := places()
	var broken error
	for _, path := range looked {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			continue
		}
		tk, err := open(path)
		if err == nil {
			return tk, nil
		}
		broken = errors.Join(broken, err)
	}
	if broken != nil {
		return nil, fmt.Errorf("%w that works: %w", ErrNoToolkit, broken)
	}
	return nil, fmt.Errorf("%w: no nvcc at %s. Install the CUDA toolkit (11.8 or newer) from https://developer.nvidia.com/cuda-downloads, "+
		"or set CUDA_HOME to the folder that holds bin/nvcc", ErrNoToolkit, strings.Join(looked, ", "))
}

var release = regexp.MustCompile(`release \d+\.\d+, V(\d+(?:\.\d+)+)`)

// open asks a compiler for its version and finds what belongs to it.
func open(path string) (*Toolkit, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s --version: %w: %s", path, err, strings.TrimSpace(string(out)))
	}
	m := release.FindSubmatch(out)
	if m == nil {
		return nil, fmt.Errorf("%s --version does not look like nvcc's: %s", path, strings.TrimSpace(string(out)))
	}
	tk := &Toolkit{Nvcc: path, Version: string(m[1])}
	roots := []string{filepath.Dir(filepath.Dir(path))}
	if real, err := filepath.EvalSymlinks(path); err == nil { // /usr/bin/nvcc of a distribution
		roots = append(roots, filepath.Dir(filepath.Dir(real)))
	}
	tk.Include = firstWith("cuda.h", under(roots, "include", "targets/x86_64-linux/include", "targets/sbsa-linux/include"), "/usr/include")
	tk.LibDir = firstWith("libcuda.so",
		[]string{"/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"},
		under(roots, "lib64/stubs", "lib/stubs", "targets/x86_64-linux/lib/stubs", "targets/sbsa-linux/lib/stubs")...)
	return tk, nil
}

func under(roots []string, folders ...string) []string {
	var all []string
	for _, root := range roots {
		for _, folder := range folders {
			all = append(all, filepath.Join(root, folder))
		}
	}
	return all
}

func firstWith(file string, dirs []string, more ...string) string {
	for _, dir := range append(dirs, more...) {
		if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
			return dir
		}
	}
	return ""
}

// CgoEnv is what a `go build -tags cuda` needs in its environment; root is the
// folder of go.mod. The compat folder comes before the toolkit's headers: with
// CUDA 13 it stands between them and gorgonia.org/cu.
func (tk *Toolkit) CgoEnv(root string) []string {
	cflags := []string{"-O2", includeFlag(filepath.Join(root, "device", "cuda", "compat"))}
	if tk.Include != "" && tk.Include != "/usr/include" {
		cflags = append(cflags, includeFlag(tk.Include))
	}
	var ldflags []string
	if tk.LibDir != "" {
		ldflags = append(ldflags, quote("-L"+tk.LibDir))
	}
	return []string{
		"CGO_ENABLED=1",
		"CGO_CFLAGS=" + strings.Join(append(cflags, keep("CGO_CFLAGS")...), " "),
		"CGO_LDFLAGS=" + strings.Join(append(ldflags, keep("CGO_LDFLAGS")...), " "),
	}
}

func includeFlag(dir string) string { return quote("-I" + dir) }

// quote protects spaces from go build, which splits flags at them.
func quote(flag string) string {
	if strings.ContainsAny(flag, " \t") {
		return `"` + flag + `"`
	}
	return flag
}

// keep is what the user has set already.
func keep(name string) []string {
	if v := strings.TrimSpace(os.Getenv(name)); v != "" {
		return []string{v}
	}
	return nil
}
