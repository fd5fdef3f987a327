// Package pages writes what people read in a browser: feedback.html for each student,
// report.html for the instructor, class.html, which may be shown to the class, and leaderboard.html, which may be
// published: it has the names that students chose for it. Each is one
// file: no scripts, nothing fetched, drawings inside. Texts of students, their files and their
// programs are strangers': html/template escapes them, and package harmless does the rest.
package pages

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"

	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/record"
	"flashlab/grader/class/similar"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/harmless"
)

// Input is what the pages are made from.
type Input struct {
	Class   gradebook.Class
	Entries []gradebook.Entry
	Notices []string // the class's of these entries
	// Out is the batch's folder as it was named, for the commands that repeat a case.
	Out string
	// Files are what was handed in, by names in the tree; nil if it is not there any more, or is not what was
	// graded. Without the function nothing is.
	Files func(record.Submission) map[string][]byte
	// Questions are those of the handouts, with what a good answer says; none for a task without.
	Questions map[registry.Name][]Question
	Changes   []gradebook.Change // of the last gradebook that changed any grade
	Similar   *similar.Result    // nil where nothing was compared
	// Texts are the files of those that were compared; a pair without them is told by its lines' numbers.
	Texts   map[similar.Origin]map[string][]byte
	Sandbox string // what students' code ran in, and what that does not hold
	NotHeld []string
}

// Question is one of a handout's.
type Question struct {
	Number    int
	Text, Key string // Key "" in a tree without solutions
}

//go:embed page.css *.tmpl
var files embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"points": gradebook.Number, "script": scriptText, "policy": policy, "prose": prose, "times": gradebook.Ratio, "percent": percent, "short": short, "lines": lines, "plural": record.Plural,
	"two":     func(x float64) string { return gradebook.Number(math.Round(100*x) / 100) },
	"base":    path.Base,
	"hundred": func(share float64) float64 { return 100 * min(max(share, 0), 1) },
	"ratio":   func(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) },
	"css": func() (template.CSS, error) {
		text, err := files.ReadFile("page.css")
		return template.CSS(text), err // ours, not a stranger's
	},
}).ParseFS(files, "*.tmpl"))

// Names of the pages in a batch's folder.
const (
	Report          = "report.html"
	Class           = "class.html"
	Leaderboard     = "leaderboard.html"
	LeaderboardJSON = "leaderboard.json"
	Feedback        = "feedback.html" // below students/ID
)

// Write writes all of them into a batch's folder.
func Write(out string, in Input) error {
	for _, e := range in.Entries {
		if e.Attempts == 0 {
			continue
		}
		name := filepath.Join(out, "students", record.Safe(e.Student.ID), Feedback)
		if err := page(name, "feedback.tmpl", feedbackOf(in, e)); err != nil {
			return fmt.Errorf("feedback of %s: %w", e.Student.ID, err)
		}
	}
	if err := page(filepath.Join(out, Report), "report.tmpl", reportOf(in)); err != nil {
		return err
	}
	if err := page(filepath.Join(out, Class), "class.tmpl", classOf(in)); err != nil {
		return err
	}
	if err := errors.Join(checksCSV(out, in), marks(out, in)); err != nil {
		return err
	}
	return leaderboard(out, in)
}

// filesOf are the files of the attempt that counts for a task.
func (in Input) filesOf(t gradebook.Task) map[string][]byte {
	if t.Record == nil || in.Files == nil {
		return nil
	}
	return in.Files(t.Record.Submission)
}

// page writes one.
func page(name, tmpl string, data any) error {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, tmpl, data); err != nil {
		return err
	}
	return put(name, []byte(harmless.Text(b.String())))
}

// put writes a file whole, unless it already has the same text.
func put(name string, text []byte) error {
	old, err := os.ReadFile(name)
	if err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return record.Durable(name, text)
}

// percent writes a share; "–" where there is none.
func percent(x float64) string {
	if x < 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}
