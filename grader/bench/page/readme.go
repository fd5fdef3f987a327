package page

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/grading/race"
	"flashlab/internal/cache"
)

const (
	readmeName   = "README.md"
	headlinesAre = "<!-- headlines:begin -->"
	headlinesEnd = "<!-- headlines:end -->"
)

// Headlines are README's part of the page: each line beside its strongest peer, of the code that is here now.
func (d Document) Headlines(code Code) string {
	now := current{code}
	var s strings.Builder
	left := map[string][]string{} // by what they lack
	for _, h := range headlines {
		all, not := h.foils(d, now)
		if not != "" {
			left[not] = append(left[not], h.name)
			continue
		}
		if s.Len() == 0 {
			fmt.Fprintf(&s, "%s; float32 unless a row says otherwise.\n\n| | beside the strongest peer | times as fast |\n| --- | --- | --- |\n", d.made(now))
		}
		s.WriteString(h.line(all))
	}
	if s.Len() == 0 {
		return "No figure is shown here: the code has changed since it was timed. `make bench DOCS=1` on a machine with a GPU times it again.\n"
	}
	for _, not := range slices.Sorted(maps.Keys(left)) {
		fmt.Fprintf(&s, "\nNot shown, because %s: %s.\n", not, strings.Join(left[not], "; "))
	}
	if length := timeAgainstLength(d); d.lengthFresh(now) {
		fmt.Fprintf(&s, "\n![%s: time against sequence length](docs/%s.svg)\n", length.Title, length.name)
	}
	return s.String()
}

// made says what the rows that are shown were timed on.
func (d Document) made(now current) string {
	for _, p := range d.Parts {
		if p.hashed() && p.fresh(now) {
			return fmt.Sprintf("%s, commit %s, %s", p.device(), known(p.Commit), p.Date.UTC().Format("2 January 2006"))
		}
	}
	return known("")
}

// fresh tells whether any of a part's rows is of the code that is here.
func (p Part) fresh(now current) bool {
	return slices.ContainsFunc(p.Rows, func(r race.Row) bool { return !now.Stale(p.Task, "", r.Kernels) }) ||
		slices.ContainsFunc(p.Models, func(m Model) bool { return !m.stale(p.Task, now) })
}

// lengthFresh tells whether the picture of times against lengths is of the code that is here.
func (d Document) lengthFresh(now current) bool {
	i := slices.IndexFunc(d.Parts, func(p Part) bool { return p.Task == "4" })
	return i >= 0 && len(d.Parts[i].Rows) > 0 && !slices.ContainsFunc(d.Parts[i].Rows, func(r race.Row) bool { return now.Stale("4", "", r.Kernels) })
}

// fillReadme puts the headlines between README's markers.
func (d Document) fillReadme(text string, code Code) (string, error) {
	from, to := strings.Index(text, headlinesAre), strings.Index(text, headlinesEnd)
	if from < 0 || to < from {
		return "", errors.New("the markers " + headlinesAre + " and " + headlinesEnd + " are not both there, in this order")
	}
	return text[:from+len(headlinesAre)] + "\n" + d.Headlines(code) + text[to:], nil
}

// WriteReadme writes README's table in a folder. It tells whether that changed anything.
func (d Document) WriteReadme(root string, code Code) (changed bool, err error) {
	name := filepath.Join(root, readmeName)
	was, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	text, err := d.fillReadme(string(was), code)
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	if text == string(was) {
		return false, nil
	}
	return true, cache.WriteFile(name, []byte(text), 0o644)
}
