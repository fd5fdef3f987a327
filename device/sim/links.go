package sim

import (
	"os"
	"path/filepath"
	"strings"
)

// Every compilation runs in a build's folder, and finds the simulator's own files there by links with
// these names. So whatever the compiler writes names them alike, wherever the cache lies: its path is in
// nothing that the cache keeps, and no character of it is ever read back from a compiler's output. A
// source cannot have files of these names (device.Source.Check).
const (
	headersLink = ".simt"         // the headers that kernels see
	plainLink   = ".simt-plain"   // headers.plain
	markedLink  = ".simt-marked"  // headers.marked
	sourcesLink = ".simt-src"     // the simulator's sources
	programLink = ".simt-program" // and what a whole program adds to them
)

// definesName is a file with a source's macros: behind simt.h, so that none gets into it.
const definesName = "./.simt-defines.h"

// links are the names of these folders, and where they are.
func (h headers) links() map[string]string {
	links := map[string]string{}
	if h.plain != "" {
		links[plainLink] = h.plain
	}
	if h.marked != "" {
		links[markedLink] = h.marked
	}
	return links
}

// link makes links in a build's folder.
func link(dir string, links map[string]string) error {
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// hidePath keeps the build's folder itself out of the debug information. A compiler may name it as the kernel
// does, with no symlink in it.
func hidePath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return "-ffile-prefix-map=" + strings.TrimSuffix(dir, "/") + "=."
}
