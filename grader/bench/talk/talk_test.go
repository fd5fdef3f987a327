package talk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/repo"
)

// printed is what `make chat` prints, less its first lines.
func printed(text string) string {
	return "on a GPU\n\nyou: Why?\nmodel: " + text + "\n(5 tokens read, the first one of the answer after 1ms, then 1ms a token; 2 tokens)\n"
}

func TestAnAnswerIsFound(t *testing.T) {
	text, time, err := Said{Printed: printed("Well\n(so to speak)\n(2)")}.Answer()
	require.NoError(t, err)
	assert.Equal(t, "Well\n(so to speak)\n(2)", text)
	assert.Equal(t, "(5 tokens read, the first one of the answer after 1ms, then 1ms a token; 2 tokens)", time)
	_, _, err = Said{Printed: "on a GPU\n"}.Answer()
	assert.EqualError(t, err, "the model said nothing")
}

// TestWordsAreSafe: what a model says ends no cell, and acts on no terminal.
func TestWordsAreSafe(t *testing.T) {
	all := []Talk{{Device: "sim", Machine: "2 cores, no GPU", Command: "make chat", Said: []Said{
		{Printed: printed("a")}, {Mutant: "4/x", About: "It is | wrong.", Printed: printed("a | <b>\n\x1b[2J`*_")},
		{Mutant: "4/y", About: "Nothing.", Printed: printed("a")}, {Mutant: "5/z", About: "It stops.", Failed: "chat: no answer"},
	}}}
	page := Page(all)
	assert.Contains(t, page, "\n| 4/x | It is \\| wrong. | \"a \\| &lt;b>\\n\\x1b[2J'\\*\\_\" |\n")
	assert.Contains(t, page, "\n| 4/y | Nothing. | the same |\n")
	assert.Contains(t, page, "\n| 5/z | It stops. | nothing: chat: no answer |\n")
	assert.NotContains(t, page, "\x1b")
}

// TestOnePartForEachDevice: a newer one takes the older one's place, and the simulator's comes first.
func TestOnePartForEachDevice(t *testing.T) {
	gpu, older, newer := Talk{Device: "cuda"}, Talk{Device: "sim", Machine: "older"}, Talk{Device: "sim", Machine: "newer"}
	assert.Equal(t, []Talk{newer, gpu}, Join(Join([]Talk{gpu}, []Talk{older}), []Talk{newer}))

	a, b, wrong := Said{Printed: "a"}, Said{Printed: "b"}, Said{Mutant: "4/x"}
	halves := Talk{Device: "sim", Kernels: "halves"}
	assert.Equal(t, []Talk{newer, halves, gpu}, Join(Join([]Talk{gpu}, []Talk{halves}), []Talk{newer}), "in halves is another part")
	older.Said, newer.Said = []Said{a, wrong}, []Said{b}
	assert.Equal(t, []Said{b, wrong}, Join([]Talk{older}, []Talk{newer})[0].Said, "the same question")
	newer.Command = "make chat PROMPT=Why"
	assert.Equal(t, []Said{b}, Join([]Talk{older}, []Talk{newer})[0].Said)
}

// TestThePageIsWhatWasSaid: docs/talk.md is made of docs/talk.json, and has every mutant by its own description, in the
// simulator at least.
func TestThePageIsWhatWasSaid(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	all, err := Read(filepath.Join(root, "docs", "talk.json"))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	page, err := os.ReadFile(filepath.Join(root, "docs", "talk.md"))
	require.NoError(t, err)
	assert.Equal(t, Page(all), string(page), "out/bin/grader talk PAGE=1 FROM=docs/talk.json writes it")
	dirs := strings.NewReplacer("4/", "task4_flash/", "5/", "task5_decode/", "b2/", "bonus/b2_halves/", "b6/", "bonus/b6_decode/")
	for _, talk := range all {
		if talk.Device == "sim" || len(talk.Said) > 1 {
			require.Len(t, talk.Said, 1+len(Mutants[talk.Kernels]), talk.Device)
		}
		_, _, err := talk.Said[0].Answer()
		assert.NoError(t, err)
		for i, s := range talk.Said[1:] {
			assert.Equal(t, Mutants[talk.Kernels][i], s.Mutant)
			text, err := os.ReadFile(filepath.Join(root, "grader", "trial", "specimens", "mutants", dirs.Replace(s.Mutant)+".toml"))
			if os.IsNotExist(err) {
				continue // a release has no specimens
			}
			require.NoError(t, err)
			assert.Contains(t, string(text), `about = "`+s.About+`"`, s.Mutant)
		}
	}
	other := filepath.Join(t.TempDir(), "talk.json")
	require.NoError(t, os.WriteFile(other, []byte(`[{"Device": "sim"}]`), 0o600))
	_, err = Read(other)
	assert.ErrorContains(t, err, "nothing was said on sim")
}
