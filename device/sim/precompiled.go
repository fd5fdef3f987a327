package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"flashlab/internal/cache"
)

// precompiled is a folder for simt.h as g++ has read it: three quarters of a small kernel's
// compilation is reading that. It is for one compiler, its flags and the headers' contents; g++
// itself compares more, and where something differs, or nothing is in the folder, it reads the
// header. "": this compiler has no such thing.
func (c *compiler) precompiled(cacheDir, include string, checks Checks) string {
	if c.clang {
		return ""
	}
	dir := filepath.Join(cacheDir, "simt-gch-"+cache.Key(c.path, c.version, sourcesKey(), strings.Join(c.kernelFlags(checks), " ")))
	header := filepath.Join(dir, "simt.h") // what it was made of, and what is read without it
	if _, err := os.Stat(header); err == nil {
		_ = os.Chtimes(dir, time.Time{}, time.Now())
		return dir
	}
	forgetPrecompiled(cacheDir)
	text := fmt.Appendf(nil, "#include %q\n", filepath.Join(include, "simt.h"))
	if os.MkdirAll(dir, 0o755) != nil || cache.WriteFile(header, text, 0o644) != nil {
		return ""
	}
	return dir
}

// mostPrecompiled is how many such folders, 24 MB each, are kept: those used last.
const mostPrecompiled = 8

// forgetPrecompiled makes room for one more. Who reads a header that goes has it open, or reads
// simt.h instead.
func forgetPrecompiled(cacheDir string) {
	dirs, _ := filepath.Glob(filepath.Join(cacheDir, "simt-gch-*"))
	used := map[string]time.Time{}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil {
			used[dir] = info.ModTime()
		}
	}
	slices.SortFunc(dirs, func(a, b string) int { return used[b].Compare(used[a]) })
	for _, dir := range dirs[min(len(dirs), mostPrecompiled-1):] {
		_ = os.RemoveAll(dir)
		_ = os.Remove(filepath.Join(cacheDir, "."+filepath.Base(dir)+".lock"))
	}
}

// precompile fills that folder, once. It reads the simulator's own headers alone, so it needs
// no sandbox.
func (c *compiler) precompile(cacheDir, include string, checks Checks) string {
	dir := c.precompiled(cacheDir, include, checks)
	header := filepath.Join(dir, "simt.h.gch")
	if _, err := os.Stat(header); dir == "" || err == nil {
		return dir
	}
	open := *c
	open.jail = nil
	_ = cache.Once(cacheDir, filepath.Base(dir), func() error { // without it, it only takes longer
		if _, err := os.Stat(header); err == nil {
			return nil // another process was faster
		}
		return open.precompileInto(cacheDir, header, include, checks)
	})
	return dir
}

func (c *compiler) precompileInto(cacheDir, header, include string, checks Checks) error {
	temp, err := os.MkdirTemp(cacheDir, ".simt-gch-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	args := append(slices.Clone(c.kernelFlags(checks)), "-I", include, "-x", "c++-header", strings.TrimSuffix(header, ".gch"), "-o", "simt.h.gch")
	if out, err := c.run(temp, args...); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	made := filepath.Join(temp, "simt.h.gch")
	if err := os.Chmod(made, 0o644); err != nil {
		return err
	}
	return os.Rename(made, header)
}
