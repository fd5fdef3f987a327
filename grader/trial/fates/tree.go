// Package fates keeps what specimens came to, by the hash of everything that decides it: a specimen whose hash
// is the same need not be graded again.
package fates

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Tree is the packages of a course's tree, with what each is made of.
type Tree struct {
	root     string
	read     func(path string) ([]byte, error) // os.ReadFile; a test's may change a file
	packages map[string]listed
	sums     map[string]string // of files, by their paths
}

// listed is a package as go list tells it, without its tests.
type listed struct {
	ImportPath, Dir string
	Standard        bool
	Module          struct {
		Path, Version string
		Main          bool
	}
	GoFiles, SFiles, HFiles, EmbedFiles []string
	Imports                             []string
}

// List asks go for the packages of a tree, as workers are built: without assembly and without cgo.
func List(root string) (*Tree, error) {
	cmd := exec.Command("go", "list", "-e", "-deps", "-tags", "noasm",
		"-json=ImportPath,Dir,Standard,Module,GoFiles,SFiles,HFiles,EmbedFiles,Imports", "./...")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	t := &Tree{root: root, read: os.ReadFile, packages: map[string]listed{}, sums: map[string]string{}}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return t, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		t.packages[p.ImportPath] = p
	}
}

// Sum is the hash of these packages and of all that they import, but for files that are replaced, of further
// files, and of the texts. Packages and files are named from the tree's root.
func (t *Tree) Sum(packages, replaced, files []string, texts ...string) (string, error) {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "text %d\n%s", len(text), text)
	}
	names, err := t.Files(packages)
	if err != nil {
		return "", err
	}
	for _, name := range append(names, files...) {
		if slices.Contains(replaced, name) {
			continue
		}
		sum, err := t.file(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, "file", name, sum)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// Files are those of these packages and of all that they import. In place of another module's files it has the
// module with its version. The standard library is Go's, of some version.
func (t *Tree) Files(packages []string) ([]string, error) {
	seen, names := map[string]bool{}, map[string]bool{}
	for todo := slices.Clone(packages); len(todo) > 0; {
		path := todo[0]
		todo = todo[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		p, ok := t.packages[path]
		switch {
		case !ok && !strings.HasPrefix(path, "flashlab/"): // of the standard library, and imported by a submission alone
			continue
		case !ok:
			return nil, fmt.Errorf("there is no package %s", path)
		case p.Standard:
			continue
		case !p.Module.Main:
			names[p.Module.Path+"@"+p.Module.Version] = true
		}
		todo = append(todo, p.Imports...)
		for _, name := range slices.Concat(p.GoFiles, p.SFiles, p.HFiles, p.EmbedFiles) {
			if p.Module.Main {
				rel, err := filepath.Rel(t.root, filepath.Join(p.Dir, name))
				if err != nil {
					return nil, err
				}
				names[rel] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

var ofAModule = regexp.MustCompile(`@v\d`)

// file is the hash of a file of the tree: of Go its code, without remarks.
func (t *Tree) file(name string) (string, error) {
	if ofAModule.MatchString(name) {
		return "", nil
	}
	if sum := t.sums[name]; sum != "" {
		return sum, nil
	}
	text, err := t.read(filepath.Join(t.root, name))
	if err != nil {
		return "", err
	}
	if filepath.Ext(name) == ".go" {
		text = code(text)
	}
	t.sums[name] = fmt.Sprintf("%x", sha256.Sum256(text))
	return t.sums[name], nil
}

// code is a Go file's tokens, one a line. Comments that the go command heeds are among them.
func code(text []byte) []byte {
	set := token.NewFileSet()
	var s scanner.Scanner
	s.Init(set.AddFile("", set.Base(), len(text)), text, nil, scanner.ScanComments)
	var b bytes.Buffer
	for {
		_, tok, word := s.Scan()
		switch {
		case tok == token.EOF && s.ErrorCount > 0:
			return text
		case tok == token.EOF:
			return b.Bytes()
		case tok == token.COMMENT && !strings.HasPrefix(word, "//go:"):
			continue
		}
		fmt.Fprintf(&b, "%s %q\n", tok, word)
	}
}
