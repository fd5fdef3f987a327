// Package gate looks at a submission before anything of it is built: which
// files it brings, what its Go imports, what its kernels include. It says where
// the problem is and what to do about it, because most refusals are honest mistakes.
package gate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"flashlab/device"
)

// MaxFile is the largest size of a submission's file.
const MaxFile = 1 << 20

// File is one file of a submission, read once: what was checked is what is
// built.
type File struct {
	Task string // the folder of the task that it belongs to: "task2_unfused"
	Name string // as the rubric lists it: "attention.go"
	Path string // where the student finds it, for messages
	Data []byte
	// Ladder marks what versions of a solution share, beside what the rubric permits: the course's own.
	Ladder bool
}

// Refusal is one thing that a submission must not contain.
type Refusal struct {
	File string
	Line int    // 0 where it concerns the whole file
	What string // "imports \"os\""
	Do   string // what to do about it
}

func (r Refusal) String() string {
	at := r.File
	if r.Line > 0 {
		at = fmt.Sprintf("%s:%d", r.File, r.Line)
	}
	if r.Do == "" {
		return at + ": " + r.What
	}
	return at + ": " + r.What + ": " + r.Do
}

// Error is a submission that the gate refused.
type Error struct{ Refusals []Refusal }

func (e *Error) Error() string {
	lines := make([]string, len(e.Refusals))
	for i, r := range e.Refusals {
		lines[i] = r.String()
	}
	return strings.Join(lines, "\n")
}

// Rules are what a task's rubric allows beyond what every task does.
type Rules struct {
	PTX     bool              // inline PTX, by asm statements in functions
	Headers []string          // the task's own, which its kernels may include: "tile.cuh"
	Honours []string          // files that may be missing
	Course  []string          // of the course's headers, beyond those that all may include
	Ladder  map[string]string // headers that versions of a solution share, by name: kernels that name them get them
	// Provided tells which kernels, in their normal form, every worker has from the course: these may hold
	// inline PTX in any task. Nil is none.
	Provided func(device.Source) bool
}

// missing is what is wrong with a file that is not there.
const missing = "is missing"

// Read reads the named files of dir and checks them. pkg is the package clause
// that Go files must have. Paths in messages are shown relative to the working
// directory where that is shorter.
func (r Rules) Read(dir, pkg string, names []string) ([]File, error) {
	return r.ReadAs(dir, "", pkg, names)
}

// ReadAs is Read for files that messages show in another folder: the one where their
// author has them.
func (r Rules) ReadAs(dir, author, pkg string, names []string) ([]File, error) {
	var files []File
	var refused []Refusal
	for _, name := range names {
		f := File{Name: name, Path: filepath.Join(author, name)}
		if author == "" {
			f.Path = shown(filepath.Join(dir, name))
		}
		data, why, err := readRegular(filepath.Join(dir, name), f.Path)
		if err != nil {
			return nil, err
		}
		if why != nil && why.What == missing && slices.Contains(r.Honours, name) {
			continue
		}
		if why != nil {
			refused = append(refused, *why)
			continue
		}
		f.Data = data
		refused = append(refused, r.Check(f, pkg)...)
		files = append(files, f)
	}
	if refused = append(refused, r.CheckIncludes(files)...); len(refused) > 0 {
		return nil, &Error{refused}
	}
	return files, nil
}

// Check looks at one file's text.
func (r Rules) Check(f File, pkg string) []Refusal {
	if !utf8.Valid(f.Data) || strings.ContainsRune(string(f.Data), 0) {
		return []Refusal{{f.Path, 0, "is no UTF-8 text", "save it as UTF-8"}}
	}
	if filepath.Ext(f.Name) == ".go" {
		return CheckGo(f.Path, f.Data, pkg)
	}
	return r.CheckKernel(f.Path, string(f.Data))
}

// readRegular reads a file that must be one: never a link, a pipe or a device.
func readRegular(path, shownAs string) ([]byte, *Refusal, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, &Refusal{shownAs, 0, missing, "a submission brings this file"}, nil
	case errors.Is(err, syscall.ELOOP):
		return nil, &Refusal{shownAs, 0, "is a symbolic link", "put the file itself there"}, nil
	case err != nil:
		return nil, nil, fmt.Errorf("read the submission: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("read the submission: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, &Refusal{shownAs, 0, "is no regular file", "put the file itself there"}, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read the submission: %w", err)
	}
	if len(data) > MaxFile {
		return nil, &Refusal{shownAs, 0, "is larger than 1 MB", "hand in source text only"}, nil
	}
	return data, nil, nil
}

// shown shortens a path for messages.
func shown(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(wd, abs)
	if err != nil || strings.HasPrefix(rel, ".."+string(filepath.Separator)+"..") {
		return abs
	}
	return rel
}
