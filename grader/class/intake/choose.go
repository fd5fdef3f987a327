package intake

import (
	"path"
	"slices"
	"strings"

	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/report"
	"flashlab/grader/tasks/registry"
)

// besides are files that are read in addition to the permitted ones.
var besides = []string{report.ResultsName, handin.LeaderboardFile, handin.RegradeFile}

// given are files that a hand-in is expected to have in addition to the permitted ones.
var given = []string{"Results.md", "flashlab.json", "README.md", "rubric.toml", handin.LeaderboardFile, handin.RegradeFile}

// choose takes the permitted files of one folder of the archive: its top, or whichever
// folder the task folders are in.
func choose(entries []entry, wanted Wanted) (Content, error) {
	permitted := wanted.Names
	var tops []string // what comes before the task folders
	for _, e := range entries {
		if p := match(e.name, permitted); p != "" {
			if top := strings.TrimSuffix(e.name, p); !slices.Contains(tops, top) {
				tops = append(tops, top)
			}
		}
	}
	slices.Sort(tops)
	// A copy in a deeper folder, such as a backup, is ignored.
	slices.SortStableFunc(tops, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	switch {
	case len(entries) == 0:
		return Content{}, trouble("there is no file in it")
	case len(tops) == 0:
		c, err := bare(entries, wanted)
		if err != nil || len(c.Files) > 0 {
			c.Receipt = handin.Sum(c.Files)
			c.beside(entries, "")
			return c, err
		}
		return Content{}, trouble("none of the course's files is in it: they should be in folders like %s. Hand in the zip that `make pack` writes", folderOf(permitted))
	case len(tops) > 1 && strings.Count(tops[0], "/") == strings.Count(tops[1], "/"):
		return Content{}, trouble("the task folders are in it twice, in %q and in %q: leave one of them out", tops[0], tops[1])
	}
	top := tops[0]
	c := Content{Files: map[string][]byte{}}
	for _, e := range entries {
		name, inside := strings.CutPrefix(e.name, top)
		if !inside || !slices.Contains(permitted, name) {
			c.extra(e.name)
			continue
		}
		if e.what != "" {
			return Content{}, trouble("%s %s: put the file itself there", e.name, e.what)
		}
		if _, twice := c.Files[name]; twice {
			return Content{}, trouble("%s is in it twice: pack it again", e.name)
		}
		c.Files[name] = e.data
	}
	c.Receipt = handin.Sum(c.Files)
	c.beside(entries, top)
	if top != "" {
		c.Notes = append(c.Notes, "the task folders were looked for in "+top)
	}
	return c, nil
}

// beside takes what stands next to the task folders of the archive's folder.
func (c *Content) beside(entries []entry, top string) {
	for _, e := range entries {
		name, inside := strings.CutPrefix(e.name, top)
		if !inside || e.what != "" {
			continue
		}
		switch {
		case name == report.ResultsName && c.Results == nil:
			c.Results = e.data
		case name == handin.LeaderboardFile && c.Board == nil:
			c.Board = e.data
		case name == handin.RegradeFile && c.Regrade == nil:
			c.Regrade = e.data
		}
	}
}

// extra names a file that is not asked for, one of the first.
func (c *Content) extra(name string) {
	if len(c.Extra) < maxExtra && !slices.Contains(given, path.Base(name)) && !hidden(name) {
		c.Extra = append(c.Extra, name)
	}
}

// hidden are files of editors and systems, at any depth.
func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), ignored)
}

func folderOf(permitted []string) string {
	if len(permitted) == 0 {
		return registry.All[1].Dir
	}
	return path.Dir(permitted[0])
}
