package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/repo"
)

var pathInPage = regexp.MustCompile("`((?:attn|bonus|device|docs|grader|hbm|internal|nn|scripts|tensor|task\\d_\\w+)/[\\w./-]*)`")

// TestPagesNameWhatIsThere: a path in a page is that of a file or a folder.
func TestPagesNameWhatIsThere(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	out, err := exec.Command("git", "-C", root, "ls-files", "*.md").Output()
	if err != nil {
		t.Skip("not a git repository: ", err)
	}
	n := 0
	for _, page := range strings.Fields(string(out)) {
		text, err := os.ReadFile(filepath.Join(root, page))
		require.NoError(t, err)
		for _, m := range pathInPage.FindAllStringSubmatch(string(text), -1) {
			if n++; strings.Contains(m[1], "taskN") || page == "grader/trial/messages.md" { // any of them; names of mutants
				continue
			}
			_, err := os.Stat(filepath.Join(root, m[1]))
			assert.NoError(t, err, "%s", page)
		}
	}
	assert.Greater(t, n, 50)
}
