package nvcc

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"flashlab/device"
	"flashlab/device/include"
	"flashlab/device/preprocess"
	"flashlab/internal/cache"
	"flashlab/internal/jail"
)

//go:embed include/tensorcore.h include/hopper.h
var ownHeaders embed.FS

// courseHeaders are the course's own, which every file may include, by their names.
var courseHeaders = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, files := range []fs.FS{include.Files, ownHeaders} {
		_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				text, _ := fs.ReadFile(files, name) // it is part of this program
				all[path.Base(name)] = string(text)
			}
			return err
		})
	}
	return all
})

// timeLimit bounds one run of nvcc: templates can keep a compiler busy for ever.
const timeLimit = 3 * time.Minute

// maxOutput bounds what is kept of a compiler's messages.
const maxOutput = 1 << 20

var archName = regexp.MustCompile(`^sm_(\d+)[a-z]?$`)

// Compile turns a .cu file into a cubin for arch, "sm_90" say. What is wrong
// with the file comes back as a *device.CompileError; any other error is the
// machine's.
func (tk *Toolkit) Compile(src device.Source, arch string) ([]byte, error) {
	target, err := gencode(arch)
	if err != nil {
		return nil, err
	}
	defines, err := header(src)
	if err != nil {
		return nil, err
	}
	job := job{tk, src, defines, []string{"-cubin", target, "-std=c++17", "-O3", "-lineinfo"}}
	dir, err := tk.Own.Place(src, Everybodys())
	if err != nil {
		return nil, err
	}
	return cached(dir, job.key(), job.run)
}

// gencode is the flag for an architecture. Hopper's own instructions (wgmma)
// need the "a" variant of both names; the short form -arch=sm_90a would compile
// a plain sm_90 pass as well and fail in it.
func gencode(arch string) (string, error) {
	m := archName.FindStringSubmatch(arch)
	if m == nil {
		return "", fmt.Errorf("nvcc: %q is no architecture: want sm_90, say", arch)
	}
	number := strings.TrimPrefix(arch, "sm_")
	if number == "90" {
		number = "90a"
	}
	return fmt.Sprintf("-gencode=arch=compute_%s,code=sm_%s", number, number), nil
}

// header writes the macros as lines of a header. They are not given as -D,
// because nvcc hands its arguments to a shell: a value such as (1 + 1) fails
// there, and $(…) would run.
func header(src device.Source) (string, error) {
	if err := src.Check(); err != nil {
		return "", err
	}
	names := make([]string, 0, len(src.Defines))
	for name := range src.Defines {
		names = append(names, name)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, name := range names {
		value := src.Defines[name]
		if strings.ContainsAny(value, "\r\\") {
			return "", fmt.Errorf("compile %s: the value of the macro %s must stay on one line: %q", src.Name, name, value)
		}
		fmt.Fprintf(&b, "#define %s %s\n", name, value)
	}
	return b.String(), nil
}

// job is one run of the compiler.
type job struct {
	tk      *Toolkit
	src     device.Source
	defines string
	flags   []string
}

// key names all that the result depends on.
func (j job) key() string {
	parts := []string{"cubin 1", fmt.Sprint(j.tk.Vet != nil), j.tk.Nvcc, j.tk.Version, strings.Join(j.flags, " "),
		os.Getenv("NVCC_PREPEND_FLAGS"), os.Getenv("NVCC_APPEND_FLAGS"), os.Getenv("NVCC_CCBIN"),
		j.src.Name, j.src.Text, j.defines, fmt.Sprint(courseHeaders()), fmt.Sprint(j.src.Files)} // maps print in order
	if j.src.HasMangled() {
		parts = append(parts, "holders 1", kernelsHeader, fmt.Sprintf("%q", j.src.Kernels))
	}
	return cache.Key(parts...)
}

// run compiles in a separate folder, where the file has its plain name, because that
// is the name that messages show.
func (j job) run() ([]byte, error) {
	dir, err := os.MkdirTemp("", "flashlab-nvcc-")
	if err != nil {
		return nil, fmt.Errorf("nvcc: %w", err)
	}
	defer os.RemoveAll(dir)
	files := maps.Clone(courseHeaders())
	files[definesName], files[j.src.Name] = j.defines, j.src.Text
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("nvcc: %w", err)
		}
	}
	for file, text := range j.src.Files {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, fmt.Errorf("nvcc: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("nvcc: %w", err)
		}
	}
	flags := append(slices.Clone(j.flags), "-I.", "-include", definesName, "-x", "cu", j.src.Name)
	mangled := j.src.HasMangled()
	if j.tk.Vet == nil && !mangled {
		return j.translate(dir, flags)
	}
	p, err := j.preprocess(dir, flags)
	if err != nil {
		return nil, err
	}
	if j.tk.Vet != nil {
		if err := j.tk.Vet(p); err != nil {
			return nil, err
		}
	}
	if mangled {
		return j.translateNamed(dir, flags, readKernels(p))
	}
	return j.translate(dir, flags)
}

// translate runs the compiler. -keep leaves the PTX for messages that name its lines.
func (j job) translate(dir string, flags []string) ([]byte, error) {
	output, failure := j.tk.call(dir, append([]string{"-keep", "-o", "kernels.cubin"}, flags...))
	if failure != nil {
		return nil, j.explain(dir, output, failure)
	}
	return os.ReadFile(filepath.Join(dir, "kernels.cubin"))
}

// preprocess shows what the file comes to: the preprocessor runs by itself, with the flags of the compilation.
func (j job) preprocess(dir string, flags []string) (preprocess.Text, error) {
	const name = "preprocessed.ii"
	flags = slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return f == "-cubin" })
	if output, failure := j.tk.call(dir, append([]string{"-E", "-o", name}, flags...)); failure != nil {
		return preprocess.Text{}, j.explain(dir, output, failure)
	}
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return preprocess.Text{}, fmt.Errorf("nvcc: %w", err)
	}
	p := preprocess.Main(string(text), j.src.Name, definesName, slices.Collect(maps.Keys(j.src.Files))...)
	p.Headers = "."     // the course's lie beside the file
	p.Translated = true // only device code is compiled
	return p, nil
}

// definesName is the header with the macros.
const definesName = "defines.h"

// call runs nvcc in dir, within its bounds.
func (tk *Toolkit) call(dir string, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	cmd, err := tk.command(ctx, dir, args)
	if err != nil {
		return "", err
	}
	var out bounded
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if failed := jail.Failed(cmd, string(out.text)); tk.Jail != nil && err != nil && failed != nil {
		return "", failed
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("nvcc was stopped after %v", timeLimit)
	}
	return string(out.text), err
}

// command is one run of nvcc, which may change dir; in a sandbox it sees the
// toolkit and the system's own files besides.
func (tk *Toolkit) command(ctx context.Context, dir string, args []string) (*exec.Cmd, error) {
	if tk.Jail == nil {
		cmd := exec.CommandContext(ctx, tk.Nvcc, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "TMPDIR="+dir, "LC_ALL=C")
		cmd.WaitDelay = 2 * time.Second
		ownGroup(cmd)
		return cmd, nil
	}
	root := filepath.Dir(filepath.Dir(tk.Nvcc))
	reads := []string{root}
	if real, err := filepath.EvalSymlinks(root); err == nil && real != root {
		reads = append(reads, real)
	}
	path := filepath.Join(root, "bin")
	if gxx, err := exec.LookPath("g++"); err == nil { // nvcc finds it by PATH
		reads, path = append(reads, jail.Around(gxx)...), path+":"+filepath.Dir(gxx)
	}
	env := []string{"TMPDIR=" + dir, "LC_ALL=C", "HOME=" + dir, "PATH=" + path + ":/usr/local/bin:/usr/bin:/bin"}
	return tk.Jail(ctx, jail.Program{Path: tk.Nvcc, Args: args, Env: env, Dir: dir, Read: reads, Write: []string{dir}, CPU: timeLimit})
}

// explain tells the file's faults from the machine's.
func (j job) explain(dir, output string, failure error) error {
	found := parse(output, j.src, ptxLines(dir, j.src))
	var exit *exec.ExitError
	if !errors.As(failure, &exit) || len(found) == 0 || found[0].Severity != "error" {
		return fmt.Errorf("compile %s: %s: %w\n%s", j.src.Name, j.tk.Nvcc, failure, strings.TrimSpace(output))
	}
	device.Quote(found, j.src.Name, j.src.Text)
	for name, text := range j.src.Files {
		device.Quote(found, name, text)
	}
	return &device.CompileError{File: j.src.Name, Diagnostics: found, Output: output, Needs: needs(found)}
}

// bounded keeps the beginning of what is written to it.
type bounded struct{ text []byte }

func (b *bounded) Write(p []byte) (int, error) {
	room := maxOutput - len(b.text)
	b.text = append(b.text, p[:min(len(p), room)]...)
	return len(p), nil
}
