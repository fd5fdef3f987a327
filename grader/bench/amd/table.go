package amd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"flashlab/grader/grading/build"
	"flashlab/internal/cache"
)

const (
	begins = "<!-- hip-check:begin -->\n"
	ends   = "<!-- hip-check:end -->\n"
)

// Table is all results for a page.
func Table(all []Result, versions string) string {
	var s strings.Builder
	s.WriteString(versions + "\n\n| task, rung | kernel |")
	for _, chip := range Chips {
		fmt.Fprintf(&s, " %s: VGPRs | LDS | scratch | waves |", chip.Arch)
	}
	s.WriteString(" sm_90a: registers | shared | spilt |\n| --- | --- |" + strings.Repeat(" --- |", 4*len(Chips)+3) + "\n")
	for _, r := range all {
		if r.Not == "" {
			r.rows(&s)
		}
	}
	s.WriteString("\nLeft out, because they use what no AMD GPU has: ")
	var not []string
	for _, r := range all {
		if r.Not != "" {
			not = append(not, fmt.Sprintf("%s (%s)", r.Title(), r.Not))
		}
	}
	return s.String() + strings.Join(not, "; ") + ".\n"
}

// Title names a file by its task and rung.
func (r Result) Title() string {
	version, file, is := strings.Cut(r.Name, "/")
	switch {
	case !is:
		return fmt.Sprintf("task %s, `%s`", r.Task, r.Name)
	case file == "kernels.cu":
		return fmt.Sprintf("task %s, %s", r.Task, build.VersionTitle(version))
	}
	return fmt.Sprintf("task %s, %s, `%s`", r.Task, build.VersionTitle(version), file)
}

func (r Result) rows(s *strings.Builder) {
	title := r.Title()
	var names []string
	for _, c := range append(r.Chips, r.nvcc()) {
		if len(names) < len(c.Kernels) {
			names = c.Kernels
		}
	}
	if len(names) == 0 {
		names = []string{"–"}
	}
	for i, name := range names {
		if i > 0 {
			title = ""
		}
		fmt.Fprintf(s, "| %s | %s |", title, plain(name))
		for _, c := range r.Chips {
			s.WriteString(c.cells(name, 4))
		}
		s.WriteString(r.nvcc().cells(name, 3) + "\n")
	}
}

func (r Result) nvcc() Compiled {
	if r.NVCC == nil {
		return Compiled{Failed: "no nvcc here"}
	}
	return *r.NVCC
}

func (c Compiled) cells(name string, columns int) string {
	u, is := c.Uses[name]
	switch {
	case c.Failed != "":
		return " " + strings.ReplaceAll(c.Failed, "|", "/") + strings.Repeat(" |", columns)
	case !is:
		return strings.Repeat(" |", columns)
	}
	return " " + u.Text(columns == 4) + " |"
}

// plain is a kernel's name without what C++ adds to a template's.
func plain(name string) string {
	if rest, is := strings.CutPrefix(name, "_Z"); is {
		return "`" + strings.TrimLeft(rest, "0123456789") + "`"
	}
	return "`" + name + "`"
}

// Write puts a table between a page's marks.
func Write(file, table string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, is := bytes.Cut(page, []byte(begins))
	_, after, ended := bytes.Cut(rest, []byte(ends))
	if !is || !ended {
		return errors.New(file + " has lost the lines between which the table belongs: " + strings.TrimSpace(begins) + " and " + strings.TrimSpace(ends))
	}
	return cache.WriteFile(file, []byte(string(before)+begins+"\n"+table+"\n"+ends+string(after)), 0o644)
}
