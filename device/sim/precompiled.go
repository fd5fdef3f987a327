package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"flashlab/internal/cache"
	"flashlab/internal/glob"
)

// headers are the folders of simt.h as g++ has read it: most of a small kernel's compilation is
// reading that. "": this compiler has no such thing, or it is not there.
type headers struct {
	plain  string // to compile with
	marked string // with CUDA's words left in, to be read (hostside/)
}

// headerKind is one of those: marked or not, with inline PTX's header behind it or not.
type headerKind struct{ marked, ptx bool }

func (k headerKind) flags() []string {
	if k.marked {
		return []string{"-DSIMT_MARKS"}
	}
	return nil
}

func (k headerKind) text() string {
	text := "#include <simt.h>\n"
	if k.ptx {
		text += "#include <simt/ptx.h>\n"
	}
	return text
}

// link is the name by which a build's folder has such a folder: see links.go.
func (k headerKind) link() string {
	if k.marked {
		return markedLink
	}
	return plainLink
}

// headersFor are those of a file, made if they are not there yet.
func (c *compiler) headersFor(cacheDir, include string, s moduleSource) headers {
	return headers{
		plain:  c.precompile(cacheDir, include, s.checks, headerKind{ptx: s.usesPTX()}),
		marked: c.precompile(cacheDir, include, s.checks, headerKind{marked: true, ptx: s.usesPTX()}),
	}
}

// with has the compiler read simt.h from one of the two folders, if it is there.
func (h headers) with(args []string, link string) []string {
	args = slices.Clone(args)
	if at := slices.Index(args, "-include"); h.links()[link] != "" && at >= 0 {
		args[at+1] = link + "/simt.h"
	}
	return args
}

// preprocessing are the arguments for the preprocessor: its output names the folder from
// which it has read simt.h, and leaves out what is in it.
func (h headers) preprocessing(args []string, link string) []string {
	if h.links()[link] == "" {
		return append(slices.Clone(args), "-E")
	}
	return append(h.with(args, link), "-fpch-preprocess", "-E")
}

// unmarked has preprocessed text compiled with the one header where it was read with the other.
func (h headers) unmarked(text string) string {
	line := func(link string) string { return "#pragma GCC pch_preprocess \"" + link + "/simt.h.gch\"\n" }
	return strings.Replace(text, line(markedLink), line(plainLink), 1)
}

// unreadable tells whether a compilation failed because of such a header, so that it may do without.
func (h headers) unreadable(err error) bool {
	return err != nil && h != headers{} && (strings.Contains(err.Error(), "PCH") || strings.Contains(err.Error(), "simt.h.gch"))
}

// precompiled is the folder of one kind. It is for one compiler, its flags and the headers'
// contents; g++ itself compares more, and where something differs, or nothing is in the folder, it
// reads the header.
func (c *compiler) precompiled(cacheDir string, checks Checks, k headerKind) string {
	if c.clang {
		return ""
	}
	flags := append(c.kernelFlags(checks), k.flags()...)
	dir := filepath.Join(cacheDir, "simt-gch-"+cache.Key(c.key(), sourcesKey(), strings.Join(flags, " "), k.text()))
	header := filepath.Join(dir, "simt.h") // what it was made of, and what is read without it
	if _, err := os.Stat(header); err == nil {
		_ = os.Chtimes(dir, time.Time{}, time.Now())
		return dir
	}
	forgetPrecompiled(cacheDir)
	if os.MkdirAll(dir, 0o755) != nil || cache.WriteFile(header, []byte(k.text()), 0o644) != nil {
		return ""
	}
	return dir
}

// mostPrecompiled is how many such folders, 24 MB each, are kept: those used last.
const mostPrecompiled = 16

// forgetPrecompiled makes room for one more. Who reads a header that goes has it open, or reads
// simt.h instead.
func forgetPrecompiled(cacheDir string) {
	dirs, _ := glob.In(cacheDir, "simt-gch-*")
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
func (c *compiler) precompile(cacheDir, include string, checks Checks, k headerKind) string {
	dir := c.precompiled(cacheDir, checks, k)
	header := filepath.Join(dir, "simt.h.gch")
	if _, err := os.Stat(header); dir == "" || err == nil {
		return dir
	}
	open := *c
	open.jail = nil
	err := cache.Once(cacheDir, filepath.Base(dir), func() error { // without it, it only takes longer
		if _, err := os.Stat(header); err == nil {
			return nil // another process was faster
		}
		return open.precompileInto(cacheDir, header, include, k, append(c.kernelFlags(checks), k.flags()...))
	})
	if err != nil {
		return ""
	}
	return dir
}

func (c *compiler) precompileInto(cacheDir, header, include string, k headerKind, flags []string) error {
	temp, err := os.MkdirTemp(cacheDir, ".simt-gch-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := link(temp, map[string]string{headersLink: include, k.link(): filepath.Dir(header)}); err != nil {
		return err
	}
	args := append(flags, hidePath(temp), "-I", headersLink, "-x", "c++-header", k.link()+"/simt.h", "-o", "simt.h.gch")
	if out, err := c.run(temp, args...); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	made := filepath.Join(temp, "simt.h.gch")
	if err := os.Chmod(made, 0o644); err != nil {
		return err
	}
	return os.Rename(made, header)
}
