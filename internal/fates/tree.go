// Package fates keeps a record of the specimens that met their fates, and of slow tests that passed, by the hash of
// everything that decides: while the hash is the same, a specimen need not be graded again, nor a test run.
package fates

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"flashlab/internal/glob"
)

// Tree is the packages of a course's tree, with what each is made of.
type Tree struct {
	root     string
	read     func(path string) ([]byte, error)
	packages map[string]listed
	mu       sync.Mutex
	sums     map[string]string // of files, by their paths
}

// listed is a package as go list tells it.
type listed struct {
	ImportPath, Dir string
	Standard        bool
	Module          struct {
		Path, Version string
		Main          bool
	}
	GoFiles, SFiles, HFiles, EmbedFiles []string
	Imports                             []string

	TestGoFiles, XTestGoFiles             []string
	TestEmbedPatterns, XTestEmbedPatterns []string
	TestImports, XTestImports             []string
}

// Reading is the same tree, its files read in another way.
func (t *Tree) Reading(read func(path string) ([]byte, error)) *Tree {
	return &Tree{root: t.root, read: read, packages: t.packages, sums: map[string]string{}}
}

// List asks go for the packages of a tree, as workers are built: without assembly and without cgo.
func List(root string) (*Tree, error) {
	cmd := exec.Command("go", "list", "-e", "-deps", "-tags", "noasm",
		"-json=ImportPath,Dir,Standard,Module,GoFiles,SFiles,HFiles,EmbedFiles,Imports,"+
			"TestGoFiles,XTestGoFiles,TestEmbedPatterns,XTestEmbedPatterns,TestImports,XTestImports", "./...")
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

// Of is what decides one fate. Files are named from the tree's root.
type Of struct {
	Packages []string // with all that they import
	Tests    []string // those of these packages, with all that they import
	Replaced []string // files of theirs that the submission has its own of
	Files    []string // further ones
	Texts    []string // the submission's own
}

// Sum is the hash of all that decides.
func (t *Tree) Sum(of Of) (string, error) {
	h := sha256.New()
	for _, text := range of.Texts {
		fmt.Fprintf(h, "text %d\n%s", len(text), text)
	}
	for _, name := range append(t.files(of), of.Files...) {
		if slices.Contains(of.Replaced, name) {
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

// files are those of packages and of all that they import. In place of another module's files it has the
// module with its version. The standard library is Go's, of some version.
func (t *Tree) files(of Of) []string {
	seen, names := map[string]bool{}, map[string]bool{}
	todo := slices.Concat(of.Packages, of.Tests)
	for _, path := range of.Tests {
		p := t.packages[path]
		todo = slices.Concat(todo, p.TestImports, p.XTestImports)
		for _, pattern := range slices.Concat(p.TestGoFiles, p.XTestGoFiles, p.TestEmbedPatterns, p.XTestEmbedPatterns, []string{"testdata"}) {
			for _, path := range filesLike(p.Dir, strings.TrimPrefix(pattern, "all:")) {
				names[strings.TrimPrefix(path, t.root+"/")] = true
			}
		}
	}
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		p, ok := t.packages[path]
		switch {
		case !ok, p.Standard: // what a submission alone imports is Go's own, or is not there
			continue
		case !p.Module.Main:
			names[p.Module.Path+"@"+p.Module.Version] = true
		}
		todo = append(todo, p.Imports...)
		for _, name := range slices.Concat(p.GoFiles, p.SFiles, p.HFiles, p.EmbedFiles) {
			if p.Module.Main {
				names[strings.TrimPrefix(p.ImportPath, p.Module.Path+"/")+"/"+name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// filesLike are the files that a pattern names, itself or by their folder; but the record is none of them.
func filesLike(folder, pattern string) (paths []string) {
	found, _ := glob.In(folder, pattern)
	for _, path := range found {
		_ = filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, "/"+ofTests) {
				paths = append(paths, path)
			}
			return nil
		})
	}
	return paths
}

var ofAModule = regexp.MustCompile(`@v\d`)

// file is the hash of a file of the tree: of Go its code, without remarks.
func (t *Tree) file(name string) (string, error) {
	if ofAModule.MatchString(name) {
		return "", nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if sum := t.sums[name]; sum != "" {
		return sum, nil
	}
	text, err := t.read(filepath.Join(t.root, name))
	if err != nil {
		return "", err
	}
	t.sums[name] = sumOf(text, filepath.Ext(name) == ".go")
	return t.sums[name], nil
}

// ofCode are the hashes of the code of Go files, by those of their texts: to find the code takes longest.
var ofCode sync.Map

func sumOf(text []byte, isGo bool) string {
	whole := sha256.Sum256(text)
	if !isGo {
		return fmt.Sprintf("%x", whole)
	}
	if sum, ok := ofCode.Load(whole); ok {
		return sum.(string)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(code(text)))
	ofCode.Store(whole, sum)
	return sum
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
