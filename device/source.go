package device

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"strings"
	"sync"
)

// Source says which .cu file to compile, and how.
type Source struct {
	// Folder and Name are the file's: "task4_flash", from the module's root, and "kernels.cu". What it
	// includes is beside it.
	Folder  string
	Name    string            // shown in error messages
	Defines map[string]string // macros to define before it: "BR" → "64"
	// Kernels are expressions for kernels that are templates, as NVRTC takes them:
	// "softmax<float, 128>". Kernel finds each by the same words, on every device. Other
	// kernels need no listing.
	Kernels []string
	// Text is the file's, and Files are what it may include: "common.h", "util/reduce.cuh" → their text.
	// They are for tests and tools. A program that is graded names files, and the grader has their text: its
	// device refuses a Source with any (ErrText).
	Text  string
	Files map[string]string
}

// ErrText is a graded program's text: the grader compiles the files that it has checked, and no others.
var ErrText = errors.New("a program that is graded names a file (Folder, Name), and hands over no text (Text, Files): " +
	"the grader compiles the file that was handed in. Values that Go knows go into Defines")

// folders are the files that Provide was given, by their folder.
var folders sync.Map

// Provide has this program's devices find a folder's kernels, and what these include there or in one of more.
// A graded worker provides none (its build tag is graded): its device asks the grader.
func Provide(folder string, files fs.FS, more ...fs.FS) bool {
	_, twice := folders.Swap(folder, append([]fs.FS{files}, more...))
	return !twice
}

// Whole is a source with the text of the file that it names, which this program was provided with.
func (s Source) Whole() (Source, error) {
	if s.Folder == "" || s.Text != "" {
		return s, nil
	}
	found, ok := folders.Load(s.Folder)
	if !ok {
		return s, fmt.Errorf("compile %s: this program has no kernels of the folder %s", s.Name, s.Folder)
	}
	in := found.([]fs.FS)
	text, err := fs.ReadFile(in[0], s.Name)
	if err != nil {
		return s, fmt.Errorf("compile %s: the folder %s: %w", s.Name, s.Folder, err)
	}
	s.Text = string(text)
	for _, files := range in {
		headers, err := fs.Glob(files, "*.cuh")
		if err != nil {
			return s, err
		}
		for _, name := range headers {
			text, err := fs.ReadFile(files, name)
			if err != nil {
				return s, err
			}
			if _, twice := s.Files[name]; twice {
				return s, fmt.Errorf("compile %s: there are two files %s", s.Name, name)
			}
			if s.Files == nil {
				s.Files = map[string]string{}
			}
			s.Files[name] = string(text)
		}
	}
	return s, nil
}

// With adds those of the headers that the source includes, by itself or by way of others of them.
func (s Source) With(headers map[string]string) Source {
	s.Files = maps.Clone(s.Files)
	var add func(text string)
	add = func(text string) {
		for _, m := range quotedInclude.FindAllStringSubmatch(text, -1) {
			header, ours := headers[m[1]]
			if _, there := s.Files[m[1]]; !ours || there {
				continue
			}
			if s.Files == nil {
				s.Files = map[string]string{}
			}
			s.Files[m[1]] = header
			add(header)
		}
	}
	add(s.Text)
	return s
}

var quotedInclude = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"`)

// Check refuses names and macros that no compiler should be handed.
func (s Source) Check() error {
	if !plainFile.MatchString(s.Name) {
		return fmt.Errorf("compile: %q is no plain file name", s.Name)
	}
	for name, value := range s.Defines {
		if !plainMacro.MatchString(name) || strings.ContainsAny(value, "\n\r\\\x00") || strings.Contains(value, "/*") || strings.Contains(value, "//") {
			return fmt.Errorf("compile %s: the macro %q = %q is not one: its value is one line, without comments and \\", s.Name, name, value)
		}
		if why := RefuseMacro(name); why != "" {
			return fmt.Errorf("compile %s: the macro %s = %s: %s", s.Name, name, value, why)
		}
	}
	for name := range s.Files {
		if !plainPath.MatchString(name) || name == s.Name {
			return fmt.Errorf("compile %s: %q is no plain name for a file that it includes", s.Name, name)
		}
	}
	for _, k := range s.Kernels {
		if !plainExpression.MatchString(k) {
			return fmt.Errorf("compile %s: %q names no kernel: want softmax or softmax<float, 128>", s.Name, k)
		}
	}
	return nil
}

var (
	plainFile  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	plainMacro = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	plainPath  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$`)
	// A name and its template's arguments: nothing that could be more than one expression.
	plainExpression = regexp.MustCompile(`^(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*\s*(?:<[\w:<>,*\s.-]*>)?$`)
)
