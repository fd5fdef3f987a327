package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/bench/kernels"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

func TestRowsOfOtherCodeAreStale(t *testing.T) {
	d := madeUp(t)
	stale, all := d.Stale(code{})
	assert.Zero(t, stale)
	assert.Greater(t, all, 20)
	assert.NotContains(t, d.Page(code{}), "stale")

	var five Part
	for _, p := range d.Parts {
		if p.Task == "5" {
			five = p
		}
	}
	stale, same := d.Stale(code{changed: "5"})
	assert.Equal(t, len(five.Rows)+len(five.Versions), stale)
	assert.Equal(t, all, same)
	page := d.Page(code{changed: "5"})
	assert.Contains(t, page, "rows are stale.**")
	marked := 0
	for _, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(line, "| **stale:** ") {
			marked++
		}
	}
	assert.Equal(t, stale, marked, "each is marked where it stands")
	stale, _ = d.Stale(code{changed: "6"})
	assert.Equal(t, 2, stale, "the models")

	d.Parts[0].Rows[0].Kernels = "" // as rows of before have it
	stale, _ = d.Stale(code{})
	assert.Equal(t, 1, stale)
	assert.Contains(t, d.Page(code{}), "**stale:** "+d.Parts[0].Rows[0].Name)
}

// TestAPageIsOfOneCommitAndOneCard: nothing else is written. Parts that name no code are from before that.
func TestAPageIsOfOneCommitAndOneCard(t *testing.T) {
	require.NoError(t, madeUp(t).Whole())
	for what, change := range map[string]func(p *Part){
		"commit abd,": func(p *Part) { p.Commit = "abd" },
		"card 2c3d,":  func(p *Part) { p.Before.Card = "2c3d" },
		"another GPU": func(p *Part) { p.GPU = "another GPU" },
		"driver 99,":  func(p *Part) { p.Before.Driver = "99" },
		"9 runs":      func(p *Part) { p.Runs = 9 },
	} {
		for i := range madeUp(t).Parts { // whichever part it is
			d := madeUp(t)
			change(&d.Parts[i])
			assert.ErrorContains(t, d.Whole(), what)
			dir := t.TempDir()
			assert.ErrorContains(t, d.Write(dir, code{}), "one commit and one card")
			assert.NoFileExists(t, filepath.Join(dir, jsonName))
		}
	}
	d := madeUp(t)
	p := &d.Parts[1]
	p.Commit = "of before"
	for i := range p.Rows {
		p.Rows[i].Kernels = ""
	}
	require.NoError(t, d.Whole())
	stale, _ := d.Stale(code{})
	assert.GreaterOrEqual(t, stale, len(p.Rows), "and is stale")
}

// TestTheCommittedPage is what the committed JSON says of the code that is here, and its parts belong together.
func TestTheCommittedPage(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	now, err := kernels.Read(root, tasks)
	require.NoError(t, err)
	docs := filepath.Join(root, "docs")
	d, err := Load(docs)
	require.NoError(t, err)
	require.NotEmpty(t, d.Parts)
	require.NoError(t, d.Whole())
	page, err := os.ReadFile(filepath.Join(docs, pageName))
	require.NoError(t, err)
	assert.True(t, d.Page(now) == string(page), "docs/reference.md is not what docs/reference.json says of the code that is here: make page writes it again")
}

func TestAStalePageIsNotFresh(t *testing.T) {
	assert.NoError(t, madeUp(t).Fresh(code{}))
	assert.ErrorContains(t, Document{}.Fresh(code{}), "0 of 0 rows", "an empty page is no page")
	for name, change := range map[string]func(d Document){
		"1 of ":                                  func(d Document) { d.Parts[0].Rows[0].Kernels = "" },
		"rows has changed since they were timed": func(d Document) { d.Parts[0].Versions[0].Row.Kernels = "g" },
		"has changed since they":                 func(d Document) { d.Parts[len(d.Parts)-1].Models[0].Kernels = "g" },
		"one commit and one card":                func(d Document) { d.Parts[1].Commit = "abd" },
	} {
		d := madeUp(t)
		change(d)
		assert.ErrorContains(t, d.Fresh(code{}), name)
	}
}

func TestRedrawing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, madeUp(t).Write(dir, code{}))
	changed, err := Redraw(dir, code{})
	require.NoError(t, err)
	assert.False(t, changed)
	changed, err = Redraw(dir, code{changed: "2"})
	require.NoError(t, err)
	assert.True(t, changed)
	text, err := os.ReadFile(filepath.Join(dir, pageName))
	require.NoError(t, err)
	assert.Contains(t, string(text), "**stale:** product NN")
}
