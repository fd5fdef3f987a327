package intake

import (
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
)

// Wanted is what a submission may hold.
type Wanted struct {
	Names    []string          // of its files: handin.Names
	Packages map[string]string // of Go, by the task's folder: they tell bare files of one name apart
}

// WantedOf is what the tasks' submissions may hold.
func WantedOf(tasks []*rubric.Task) Wanted {
	w := Wanted{Names: handin.Names(tasks), Packages: map[string]string{}}
	for _, t := range tasks {
		w.Packages[t.Dir] = t.Package
	}
	return w
}

// named are the wanted files with a base name.
func (w Wanted) named(base string) (all []string) {
	for _, name := range w.Names {
		if path.Base(name) == base {
			all = append(all, name)
		}
	}
	return all
}

// bare takes files that are in no task's folder: Go files by their package clauses, kernels by the Go files
// beside them, or where only one task has a file of the name. It guesses nothing: what could be of two
// tasks is a trouble, and for a person.
func bare(entries []entry, w Wanted) (Content, error) {
	c := Content{Files: map[string][]byte{}}
	var taken []string
	place := func(e entry, name, why string) error {
		if e.what != "" {
			return trouble("%s %s: put the file itself there", e.name, e.what)
		}
		if _, twice := c.Files[name]; twice {
			return trouble("two files could be %s, one of them %s: put each into its task's folder, or hand in the zip that `make pack` writes", name, e.name)
		}
		c.Files[name] = e.data
		taken = append(taken, fmt.Sprintf("%s for %s, %s", e.name, name, why))
		return nil
	}
	beside := map[string][]string{} // the tasks whose Go files a folder of the archive holds
	var rest []entry
	for _, e := range entries {
		names := w.named(path.Base(e.name))
		if path.Ext(e.name) != ".go" || len(names) == 0 || hidden(e.name) {
			rest = append(rest, e)
			continue
		}
		clause := packageOf(e.data)
		names = slices.DeleteFunc(names, func(n string) bool { return w.Packages[path.Dir(n)] != clause })
		if len(names) != 1 {
			rest = append(rest, e)
			continue
		}
		if err := place(e, names[0], "by its package clause"); err != nil {
			return c, err
		}
		beside[path.Dir(e.name)] = append(beside[path.Dir(e.name)], path.Dir(names[0]))
	}
	for _, e := range rest {
		names := w.named(path.Base(e.name))
		if ext := path.Ext(e.name); ext != ".cu" && ext != ".cuh" || len(names) == 0 || hidden(e.name) {
			c.extra(e.name)
			continue
		}
		own := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(beside[path.Dir(e.name)], path.Dir(n)) })
		why := "as the Go file beside it"
		if len(names) == 1 {
			own, why = names, "the only file of this name"
		}
		if len(own) != 1 {
			return c, trouble("%s could be any of %s: put it into its task's folder, or hand in the zip that `make pack` writes", e.name, strings.Join(names, ", "))
		}
		if err := place(e, own[0], why); err != nil {
			return c, err
		}
	}
	if len(c.Files) > 0 {
		c.Notes = append(c.Notes, "the files were in no task's folder, and were taken: "+strings.Join(taken, "; "))
	}
	return c, nil
}

// packageOf is the name in a Go file's package clause; "" if it cannot be read.
func packageOf(text []byte) string {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.PackageClauseOnly)
	if err != nil || file.Name == nil {
		return ""
	}
	return file.Name.Name
}
