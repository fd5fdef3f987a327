package pages

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/code"
)

// Bounds on the source that a feedback page shows of a task. With those of package code, 3000 lines of 240
// characters a file, they bound the page.
const (
	beside      = 3  // lines on either side of one that something is said about
	mostSpots   = 24 // lines that something is said about
	mostRemarks = 6  // remarks on one line
)

// annotated is a student's source around what was found in it. It holds what verdicts for students hold
// (Found.ForStudents), and their own lines.
type annotated struct {
	task  string // begins all ids
	files map[string][]byte
	own   *rubric.Task
	names []string                 // of files, in the order in which they were met
	lines map[string][][]code.Span // of those that were looked at
	spots map[spot][]remark
}

func annotatedOf(t *rubric.Task, files map[string][]byte) *annotated {
	return &annotated{task: fmt.Sprintf("task%s", t.Name), files: files, own: t, lines: map[string][][]code.Span{}, spots: map[spot][]remark{}}
}

// spot is a line of a file.
type spot struct {
	file string // as files has it
	line int
}

// remark is what is said about a line, and where on the page that comes from.
type remark struct {
	Text string
	Back string // an id
}

// sourceFile is a file on the page.
type sourceFile struct {
	Path string
	Rows []sourceRow
}

// sourceRow is a line of source, or the place of some that are left out.
type sourceRow struct {
	ID      string // "" for a line that nothing is said about
	Number  int
	Code    []code.Span
	Remarks []remark
	More    int // remarks that are not shown
	Left    int // lines that are left out; then nothing else is set
}

// at notes a remark on a line and returns the line's id; "" where the submission has no such line, or too
// many lines have remarks already.
func (a *annotated) at(file string, line int, r remark) string {
	name := a.find(file)
	if name == "" || line < 1 {
		return ""
	}
	s := spot{name, line}
	if _, seen := a.spots[s]; !seen && (len(a.spots) == mostSpots || line > len(a.linesOf(name))) {
		return ""
	}
	if !slices.Contains(a.names, name) {
		a.names = append(a.names, name)
	}
	a.spots[s] = append(a.spots[s], r)
	return a.id(s)
}

func (a *annotated) linesOf(name string) [][]code.Span {
	if a.lines[name] == nil {
		a.lines[name] = code.Lines(string(a.files[name]))
	}
	return a.lines[name]
}

// find is a file of the submission by the name that a finding or a count has for it.
func (a *annotated) find(file string) string {
	names := []string{file, path.Join(a.own.Dir, file)}
	for _, used := range a.own.Used {
		names = append(names, path.Join(used.Dir, file))
	}
	for _, name := range names {
		if _, there := a.files[name]; there {
			return name
		}
	}
	return ""
}

// id has nothing of a stranger's in it: a file goes by its number.
func (a *annotated) id(s spot) string {
	return fmt.Sprintf("%s-f%d-%d", a.task, slices.Index(a.names, s.file), s.line)
}

// found notes a finding, and the other side of a race.
func (a *annotated) found(f verdict.Found, back string) string {
	goes := a.at(f.File, f.Line, remark{f.Message, back})
	if len(f.Sides) == 2 && goes != "" && (f.Sides[0].Line != f.Line || f.Sides[0].File != f.File) {
		far := f.Sides[0]
		a.at(far.File, far.Line, remark{fmt.Sprintf("the other side of the race in line %d (%s)", f.Line, far.Op), back})
	}
	return goes
}

// counted is how a reason for lost traffic begins: "kernels.cu:62: …".
var counted = regexp.MustCompile(`^([\w./-]+):(\d+): `)

// reason notes why a line costs points, and returns its place in words, the rest, and the line's id.
func (a *annotated) reason(why, back string) (where, text, goes string) {
	m := counted.FindStringSubmatch(why)
	if m == nil {
		return "", why, ""
	}
	line, _ := strconv.Atoi(m[2])
	text = why[len(m[0]):]
	if goes = a.at(m[1], line, remark{text, back}); goes == "" {
		return "", why, ""
	}
	return m[1] + ":" + m[2], text, goes
}

// rows are the files, with what is said about their lines.
func (a *annotated) rows() (all []sourceFile) {
	for _, name := range a.names {
		f := sourceFile{Path: name}
		lines := a.linesOf(name)
		var marked []int
		for s := range a.spots {
			if s.file == name {
				marked = append(marked, s.line)
			}
		}
		slices.SortFunc(marked, cmp.Compare)
		next := 1 // the first line that is not on the page yet
		for i, at := range marked {
			from, to := max(next, at-beside), min(len(lines), at+beside)
			if i+1 < len(marked) {
				to = min(to, marked[i+1]-1)
			}
			if from > next {
				f.Rows = append(f.Rows, sourceRow{Left: from - next})
			}
			for n := from; n <= to; n++ {
				f.Rows = append(f.Rows, a.row(name, n, lines[n-1]))
			}
			next = to + 1
		}
		if left := len(lines) - next + 1; left > 0 {
			f.Rows = append(f.Rows, sourceRow{Left: left})
		}
		all = append(all, f)
	}
	return all
}

func (a *annotated) row(name string, n int, line []code.Span) sourceRow {
	r := sourceRow{Number: n, Code: line}
	if remarks := a.spots[spot{name, n}]; len(remarks) > 0 {
		r.ID, r.Remarks, r.More = a.id(spot{name, n}), remarks[:min(len(remarks), mostRemarks)], max(0, len(remarks)-mostRemarks)
	}
	return r
}
