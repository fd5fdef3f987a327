// Package show writes one page that explains one run of a case in the simulator: the source, with
// what each line asked of memory and what was found there, and for the whole the bytes beside the
// least. The page is one file, with its style and its little script inside; nothing is fetched.
package show

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"

	"flashlab/device/trace"
	"flashlab/internal/harmless"
)

// Run is what the page is about.
type Run struct {
	Task, Title string // "2", "Attention in separate kernels"
	Case        string // "softmax/17x113"
	Subject     string // "your files", …
	Again       string // the command that makes this page again
	Passed      bool
	Stopped     bool   // before its end, so that nobody knows whether it is right
	Reason      string // why it is wrong
	Details     []string
	Least       uint64 // bytes that any kernel has to move; 0 where nobody knows
	Against     string // what Least is, if not that
	Moved       uint64
	Counts      []trace.Counts
	Findings    []trace.Finding
	Sources     []Source
	Shapes      []Shape         // of the arrays whose shapes are known
	Tiled       *Tiled          // in place of kernels: what an algorithm on tiles asked for
	Times       map[string]Time // of kernels, where they were estimated
	Release     string
}

// Time is how long a kernel would take on a GPU, all its launches, and what share of it each line takes.
type Time struct {
	Takes, GPU, Why string // "2.4 µs", "H200", "bound by latency"
	Lines           []LineTime
}

// LineTime is a line's share of its kernel's time.
type LineTime struct {
	File  string
	Line  int
	Share float64
}

// Source is a file of kernels, by the name that the simulator knows it by.
type Source struct{ Name, Path, Text string }

// MostBytes is how large a page may be.
const MostBytes = 4 << 20

//go:embed page.css page.js page.tmpl pictures.css pictures.tmpl tiles.tmpl
var files embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"css": func() (template.CSS, error) {
		text, err := files.ReadFile("page.css")
		if err != nil {
			return "", err
		}
		more, err := files.ReadFile("pictures.css")
		return template.CSS(text) + template.CSS(more), err // ours, not a stranger's
	},
	"js": func() (template.JS, error) {
		text, err := files.ReadFile("page.js")
		return template.JS(text), err
	},
	"short": short, "count": count, "bytes": bytesOf, "plural": plural, "index": index, "past": past, "width": width, "times": func(a, b int) int { return a * b }, "plus": func(a, b int) int { return a + b }, "levels": func() []string { return levelNames },
}).ParseFS(files, "page.tmpl", "pictures.tmpl", "tiles.tmpl"))

// Page is the page of a run, MostBytes long at most: where there is too much source, lines that do
// nothing are left out, then all kernels but the first few, then pictures.
func Page(r Run) ([]byte, error) {
	for _, room := range []room{{32, true, true}, {32, false, true}, {4, false, true}, {4, false, false}, {1, false, false}} {
		var b bounded
		err := templates.ExecuteTemplate(&b, "page.tmpl", pageOf(r, room))
		if errors.Is(err, errTooLarge) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if text := harmless.Text(b.String()); len(text) <= MostBytes {
			return []byte(text), nil
		}
	}
	return nil, fmt.Errorf("the page of %s would be larger than %d bytes", r.Case, MostBytes)
}

// bounded is a buffer that takes no more than a page may have.
type bounded struct{ bytes.Buffer }

var errTooLarge = errors.New("larger than a page may be")

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > MostBytes {
		return 0, errTooLarge
	}
	return b.Buffer.Write(p)
}

// room is how much of a run a page tells.
type room struct {
	kernels int
	quiet   bool // lines that do nothing are there, folded
	drawn   bool // pictures are there
}
