package amd

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"flashlab/grader/grading/build"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/glob"
)

// source is a file of kernels: a solution's own, or a version's.
type source struct {
	task  *rubric.Task
	name  string // below the solution
	file  string
	flags []string
}

// sources are those of the tasks. Versions are put together in a folder of their own, for they share headers, and may be
// told by what differs.
func sources(root, dir string, tasks []*rubric.Task) (all []source, err error) {
	for _, t := range tasks {
		if !slices.Contains(Tasks, t.Name) {
			continue
		}
		if err := build.WriteVersions(root, []*rubric.Task{t}, dir); err != nil {
			return nil, err
		}
		versions := filepath.Join(dir, t.Dir, "solution", "_versions")
		for _, name := range append(build.Versions(root, t), "") {
			from := filepath.Join(root, t.Dir, "solution")
			if name != "" {
				from = filepath.Join(versions, name)
			}
			files, err := glob.In(from, "*.cu")
			if err != nil {
				return nil, err
			}
			for _, file := range files {
				below := filepath.Join(name, filepath.Base(file))
				s := source{task: t, name: below, file: file}
				if name != "" {
					below = filepath.Join("_versions", below)
				}
				s.flags = flags(t, filepath.Join("solution", below))
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// flags are the macros that Go defines: the rubric tells them for nvcc-check, of which the first line that matches counts.
func flags(t *rubric.Task, name string) []string {
	for _, m := range t.NVCC {
		for _, pattern := range m.Files {
			parts := strings.Split(pattern, "*")
			for i := range parts {
				parts[i] = regexp.QuoteMeta(parts[i])
			}
			if regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(name) {
				return strings.Fields(m.Flags())
			}
		}
	}
	return nil
}

var (
	includes = regexp.MustCompile(`(?m)^\s*#include [<"]([^>"]+)[>"]`)
	comments = regexp.MustCompile(`//.*`)
	inline   = regexp.MustCompile(`\basm\b`)
)

// not tells why a file has no counterpart on an AMD GPU: it, or a header beside it, names NVIDIA's tensor cores or its PTX.
func (s source) not() (string, error) { return without(s.file, map[string]bool{}) }

func without(file string, seen map[string]bool) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	text := comments.ReplaceAllString(string(data), "")
	ptx := inline.MatchString(text)
	for _, m := range includes.FindAllStringSubmatch(text, -1) {
		switch name := m[1]; name {
		case "tensorcore.h", "hopper.h", "mma.h":
			return "tensor cores", nil
		default:
			beside := filepath.Join(filepath.Dir(file), name)
			if _, err := os.Stat(beside); err != nil || seen[beside] {
				continue
			}
			seen[beside] = true
			if why, err := without(beside, seen); err != nil || why == "tensor cores" {
				return why, err
			} else if why != "" {
				ptx = true
			}
		}
	}
	if ptx {
		return "PTX", nil
	}
	return "", nil
}
