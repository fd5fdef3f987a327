package sim

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/device"
	"flashlab/internal/cache"
	"flashlab/internal/glob"
)

// A whole program is one shared object: its host code and its kernels, compiled together. The simulator's
// process loads it and calls its main(). package program has CUDA's runtime for the host code; what is
// here builds both.

// What rewrites programs on their way: part of every program's key.
//
//go:embed program.go programunit.go programtext.go programkernel.go programcode.go
var programPasses embed.FS

// ProgramSource is a program's files, and what its host code calls.
type ProgramSource struct {
	Files   []string // absolute paths
	Compile []string // more flags for the compiler: -I, -D
	Link    []string // and for the linker: -l, -L
	// Added has two folders: include, for headers that come before the simulator's (program/program.h is
	// included by itself), and runtime, for C++ that becomes part of the simulator's process and includes nothing of
	// the other.
	Added fs.FS
}

// Program is a program that was built.
type Program struct {
	Process string // what runs it
	Module  string // the program itself
	Options Options
	About   ProgramVariables

	device *Device // reads what the process reports
}

// ProgramVariables are the names of the device's variables.
type ProgramVariables struct{ Constants, Variables, Managed []string }

// programFiles are a program's own files: all that the compiler read and that is not the system's.
type programFiles struct{ texts map[string]string }

func (p *programFiles) owns(file string) bool {
	if _, ok := p.texts[file]; ok {
		return true
	}
	for name := range p.texts {
		if filepath.Base(name) == file {
			return true
		}
	}
	return false
}

// BuildProgram compiles a program and the simulator for it, or finds both in the cache.
func BuildProgram(o Options, src ProgramSource) (*Program, error) {
	o = o.withDefaults()
	c, err := findCompiler(o.Compiler)
	if err != nil {
		return nil, err
	}
	c = c.unrolling(o.Unroll)
	if err := os.MkdirAll(o.Cache, 0o755); err != nil {
		return nil, err
	}
	added, err := writeAdded(o.Cache, src.Added)
	if err != nil {
		return nil, cache.Explain(o.Cache, err)
	}
	if err != nil {
		return nil, err
	}
	process, err := buildProcess(c, o.Cache, added, keyOf(sources))
	if err != nil {
		return nil, cache.Explain(o.Cache, err)
	}
	b := &programBuild{c: c, options: o, src: src, added: added, files: &programFiles{map[string]string{}}}
	so, err := b.build()
	if err != nil {
		return nil, err
	}
	p := &Program{Process: process, Module: so, Options: o, About: b.about}
	p.device = &Device{compiler: c, cacheDir: o.Cache, options: o}
	texts := map[string]string{}
	for name, text := range b.files.texts {
		texts[filepath.Base(name)] = text
	}
	first := filepath.Base(src.Files[0])
	source := device.Source{Name: first, Text: texts[first], Files: texts}
	p.device.modules = []*module{{device: p.device, source: source, path: so}}
	return p, nil
}

// writeAdded writes what src.Added holds into the cache.
func writeAdded(cacheDir string, files fs.FS) (string, error) {
	dir := filepath.Join(cacheDir, "program-src-"+keyOf(files))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	temp, err := os.MkdirTemp(cacheDir, ".program-src-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	if err := os.CopyFS(temp, files); err != nil {
		return "", err
	}
	if err := os.Rename(temp, dir); err != nil {
		if _, other := os.Stat(dir); other != nil {
			return "", err
		}
	}
	return dir, nil
}

// buildProcess links the simulator with what a folder adds to it.
func buildProcess(c *compiler, cacheDir, added, key string) (string, error) {
	simulator, err := buildRuntime(c, cacheDir)
	if err != nil {
		return "", err
	}
	name := "flashrun-" + cache.Key(c.key(), runtimeKey(), key)
	binary := filepath.Join(cacheDir, name)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	return binary, cache.Once(cacheDir, name, func() error {
		if _, err := os.Stat(binary); err == nil {
			return nil
		}
		src, err := writeSources(cacheDir)
		if err != nil {
			return err
		}
		temp, err := os.MkdirTemp(cacheDir, ".flashrun-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		if err := link(temp, map[string]string{sourcesLink: src, programLink: added}); err != nil {
			return err
		}
		files, err := glob.In(added, "runtime/*.cpp")
		if err != nil {
			return err
		}
		for i, file := range files {
			files[i] = programLink + "/runtime/" + filepath.Base(file)
		}
		objects, err := compileAll(c, temp, files, "-I", sourcesLink+"/runtime")
		if err != nil {
			return err
		}
		return c.linkProcess(temp, binary, append(objects, runtimeObject(simulator))...)
	})
}

// programBuild is one build of a program.
type programBuild struct {
	c       *compiler
	options Options
	src     ProgramSource
	added   string
	files   *programFiles
	about   ProgramVariables
}

// build makes the shared object, unless it is in the cache under what the preprocessor leaves of all files.
func (b *programBuild) build() (string, error) {
	dir, err := os.MkdirTemp(b.options.Cache, ".build-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	include, err := includeDir(b.options.Cache)
	if err != nil {
		return "", err
	}
	if err := link(dir, map[string]string{headersLink: include, programLink: b.added}); err != nil {
		return "", err
	}
	key := []string{b.c.key(), sourcesKey(), passesKey(), keyOf(programPasses), keyOf(b.src.Added), strings.Join(b.flags(), " "), strings.Join(b.src.Link, " ")}
	units := make([]*unit, len(b.src.Files))
	for i, file := range b.src.Files {
		if units[i], err = b.preprocess(dir, file); err != nil {
			return "", err
		}
		key = append(key, units[i].text)
		b.about.Constants = append(b.about.Constants, units[i].Constants...)
		b.about.Variables = append(b.about.Variables, units[i].Device...)
		b.about.Managed = append(b.about.Managed, units[i].Managed...)
	}
	so := filepath.Join(b.options.Cache, "programs", cache.Key(key...)+".so")
	if _, err := os.Stat(so); err == nil {
		return so, nil
	}
	if err := os.MkdirAll(filepath.Dir(so), 0o755); err != nil {
		return "", err
	}
	args := []string{"-shared", "-pthread", "-Wl,-Bsymbolic", wrapFlag, "-o", "module.so"}
	dynamic := map[string]bool{}
	for i, u := range units {
		object := fmt.Sprintf("unit%d.o", i)
		if err := b.compile(dir, u, object); err != nil {
			return "", err
		}
		if err := checkUnit(u.source, filepath.Join(dir, object), dynamic); err != nil {
			return "", err
		}
		args = append(args, object)
	}
	window := sharedWindow(slices.Sorted(maps.Keys(dynamic)))
	if err := os.WriteFile(filepath.Join(dir, "shared.s"), []byte(window), 0o644); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "touch.cpp"), []byte(touchShared), 0o644); err != nil {
		return "", err
	}
	if out, err := b.c.run(dir, append(b.c.machineFlags(), "-O1", "-fPIC", "-c", "touch.cpp")...); err != nil {
		return "", fmt.Errorf("the simulator does not compile: %w\n%s", err, out)
	}
	args = append(append(args, "shared.s", "touch.o"), b.src.Link...)
	if out, err := b.c.run(dir, append(args, "-lm")...); err != nil {
		return "", linkError(out, err)
	}
	return so, os.Rename(filepath.Join(dir, "module.so"), so)
}

// touchShared is how the simulator reaches a worker's shared memory.
const touchShared = `extern "C" {
extern __thread char simt_dynamic_shared[];
void *simt_touch_shared() { return simt_dynamic_shared; }
}
`

// linkError names what the linker did not find.
func linkError(output string, cause error) error {
	var missing []string
	for line := range strings.Lines(output) {
		if _, name, ok := strings.Cut(strings.TrimSpace(line), "undefined reference to "); ok && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return fmt.Errorf("the program does not link: %w\n%s", cause, output)
	}
	return errors.New("the program does not link: nothing defines " + strings.Join(missing, ", ") +
		". Name all of its source files, and -l for a library")
}
