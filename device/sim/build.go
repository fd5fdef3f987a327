package sim

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"flashlab/device"
	"flashlab/device/include"
	"flashlab/internal/cache"
)

// The simulator's own C++: the runtime, and the headers that kernels see.
//
//go:embed include runtime
var sources embed.FS

// What rewrites kernels on their way: part of every module's key.
//
//go:embed attributes.go gaps.go overtaken.go links.go machines.go division.go assembly.go assemblyarm.go touches.go touchesarm.go symbolic.go told.go follow.go followarm.go movesarm.go unseen.go blocks.go watch.go watcharm.go joinarm.go inline.go strip.go kernels.go asked.go calls.go headerlines.go hostheaders.go undefined.go hostside/*.go ptx/*.go
var passes embed.FS

var sourcesKey = sync.OnceValue(func() string {
	return cache.Key(keyOf(sources), keyOf(include.Files), device.GuardKey)
})

// runtimeKey is for the simulator itself, which no header of kernels is in.
var runtimeKey = sync.OnceValue(func() string {
	runtime, _ := fs.Sub(sources, "runtime")
	return keyOf(runtime)
})

// guardedHeaders are the headers that kernels see, by their paths, as the compiler gets them: no macro of a
// kernel's file gets into one.
var guardedHeaders = sync.OnceValue(func() map[string]string {
	own, _ := fs.Sub(sources, "include")
	texts := map[string]string{}
	for _, files := range []fs.FS{own, include.Files} {
		_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := fs.ReadFile(files, name)
			texts["include/"+name] = string(text)
			return err
		})
	}
	return device.Guarded(texts)
})

var passesKey = sync.OnceValue(func() string { return keyOf(passes) })

func keyOf(files fs.FS) string {
	var parts []string
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		parts = append(parts, name, string(text))
		return err
	})
	return cache.Key(parts...)
}

// writeSources writes the embedded sources into the cache, once per version of them.
func writeSources(cacheDir string) (string, error) {
	dir := filepath.Join(cacheDir, "sim-src-"+sourcesKey())
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	temp, err := os.MkdirTemp(cacheDir, ".sim-src-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	if err := os.CopyFS(temp, sources); err != nil {
		return "", fmt.Errorf("cannot write the simulator's sources: %w", err)
	}
	for name, text := range guardedHeaders() {
		if err := os.WriteFile(filepath.Join(temp, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			return "", fmt.Errorf("cannot write the simulator's headers: %w", err)
		}
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(temp, dir); err != nil {
		if _, other := os.Stat(dir); other == nil {
			return dir, nil // another process was first
		}
		return "", err
	}
	return dir, nil
}

func includeDir(cacheDir string) (string, error) {
	dir, err := writeSources(cacheDir)
	return filepath.Join(dir, "include"), err
}

// buildRuntime compiles the simulator itself, once per compiler and version.
func buildRuntime(c *compiler, cacheDir string) (string, error) {
	name := "flashsim-" + cache.Key(c.key(), runtimeKey())
	binary := filepath.Join(cacheDir, name)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	return binary, cache.Once(cacheDir, name, func() error {
		if _, err := os.Stat(binary); err == nil {
			return nil // another process has built it meanwhile
		}
		return linkRuntime(c, cacheDir, binary)
	})
}

func linkRuntime(c *compiler, cacheDir, binary string) error {
	src, err := writeSources(cacheDir)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp(cacheDir, ".flashsim-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	files, err := fs.Glob(sources, "runtime/*.cpp")
	if err != nil {
		return err
	}
	if err := link(temp, map[string]string{sourcesLink: src}); err != nil {
		return err
	}
	for i := range files {
		files[i] = sourcesLink + "/" + files[i]
	}
	objects, err := compileAll(c, temp, files)
	if err != nil {
		return err
	}
	// All of it as one object, too: a whole program's process has more beside it (program.go).
	if out, err := c.run(temp, append([]string{"-r", "-nostdlib", "-o", "runtime.o"}, objects...)...); err != nil {
		return fmt.Errorf("the simulator does not link: %w\n%s", err, out)
	}
	if err := os.Rename(filepath.Join(temp, "runtime.o"), runtimeObject(binary)); err != nil {
		return err
	}
	return c.linkProcess(temp, binary, runtimeObject(binary))
}

// runtimeObject is the simulator as an object, beside the simulator itself.
func runtimeObject(binary string) string { return binary + ".o" }

func (c *compiler) linkProcess(temp, binary string, objects ...string) error {
	// -rdynamic: the kernels' modules find the hooks in the executable.
	args := append([]string{"-rdynamic", "-pthread", "-o", "flashsim"}, objects...)
	if out, err := c.run(temp, append(args, "-ldl")...); err != nil {
		return fmt.Errorf("the simulator does not link: %w\n%s", err, out)
	}
	made := filepath.Join(temp, "flashsim")
	if err := os.Chmod(made, 0o755); err != nil {
		return err
	}
	return os.Rename(made, binary)
}

// readLibrary has the compiler read the C++ library once, and gives the flags to compile with what it
// has read; none if that does not work, for then each file reads it for itself.
func (c *compiler) readLibrary(temp string) []string {
	header := sourcesLink + "/runtime/std.h"
	if _, err := c.run(temp, slices.Concat(c.runtimeFlags(), []string{"-x", "c++-header", header, "-o", "std.h.gch"})...); err != nil {
		return nil
	}
	if c.clang {
		return []string{"-include-pch", "std.h.gch"}
	}
	if err := os.WriteFile(filepath.Join(temp, "std.h"), []byte("#include \""+header+"\"\n"), 0o644); err != nil {
		return nil
	}
	return []string{"-include", "./std.h"} // g++ finds the other beside it
}

func compileAll(c *compiler, temp string, files []string, flags ...string) ([]string, error) {
	objects := make([]string, len(files))
	errs := make([]error, len(files))
	library := c.readLibrary(temp)
	slots := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i, file := range files {
		objects[i] = strings.TrimSuffix(filepath.Base(file), ".cpp") + ".o"
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			args := slices.Concat(c.runtimeFlags(), library, flags, []string{"-c", file, "-o", objects[i]})
			out, err := c.run(temp, args...)
			if err != nil {
				errs[i] = fmt.Errorf("the simulator does not compile (%s): %w\n%s", file, err, out)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return objects, nil
}
