package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"flashlab/grader/bench/kernels"
	"flashlab/grader/bench/page"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/cache"
)

// Store keeps the parts of a page until all are there: each is written whole when it is done, so that a second call
// goes on where the first was broken off. Parts of other commits, cards or numbers of runs are not taken.
type Store struct {
	Dir   string // of the parts
	Docs  string // of the page
	Made  page.Made
	Tasks []registry.Name // that the page has parts of
	Code  kernels.Of
	// Finished tells that the page was written.
	Finished bool
}

func (s *Store) file(task registry.Name) string {
	return filepath.Join(s.Dir, page.PartFile(task))
}

// Part finds the part of a task. One that cannot be read is as good as none.
func (s *Store) Part(task registry.Name) (p page.Part, is bool) {
	data, err := os.ReadFile(s.file(task))
	if err != nil || json.Unmarshal(data, &p) != nil {
		return page.Part{}, false
	}
	return p, p.Task == task && p.Made() == s.Made
}

// Put keeps a part, and tells which others the page still lacks.
func (s *Store) Put(p page.Part) (missing []registry.Name, err error) {
	if p.Made() != s.Made {
		return nil, fmt.Errorf("task %s was timed at %v, but this page is for %v: did the GPU change meanwhile?", p.Task, p.Made(), s.Made)
	}
	data, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, err
	}
	if err := cache.WriteFile(s.file(p.Task), append(data, '\n'), 0o644); err != nil {
		return nil, err
	}
	_, missing = s.Document()
	return missing, nil
}

// Finish writes the page, where all parts are there. Its pictures need no GPU, and are drawn elsewhere.
func (s *Store) Finish() error {
	d, missing := s.Document()
	if len(missing) > 0 {
		return fmt.Errorf("the page still lacks tasks %s", Names(missing))
	}
	if err := d.Write(s.Docs, s.Code); err != nil {
		return err
	}
	s.Finished = true
	seconds := 0.0
	for _, p := range d.Parts {
		seconds += p.Seconds
	}
	fmt.Printf("Written: %s, for %v. All parts together took %.0f s. Now run `make page`, which draws the pictures and writes README's table; it needs no GPU.\n", filepath.Join(s.Docs, "reference.md"), s.Made, seconds)
	return nil
}

// Document is of all parts that there are.
func (s *Store) Document() (d page.Document, missing []registry.Name) {
	for _, task := range s.Tasks {
		if p, is := s.Part(task); is {
			d.Put(p)
		} else {
			missing = append(missing, task)
		}
	}
	return d, missing
}

// Earlier is the page that will be replaced; what cannot be read is empty.
func (s *Store) Earlier() page.Document {
	d, err := page.Load(s.Docs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return page.Document{}
	}
	return d
}

// Names are tasks for a sentence.
func Names(tasks []registry.Name) string {
	var all []string
	for _, t := range tasks {
		all = append(all, string(t))
	}
	return strings.Join(all, ", ")
}
