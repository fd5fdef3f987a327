package release

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/repo"
)

// runMake says what make says, and whether it goes on. What `make test` itself was given stays out of it, and
// out/bin/grader is as the test found or built it.
func runMake(t *testing.T, makefile string, args ...string) (string, error) {
	root, err := repo.Root()
	require.NoError(t, err)
	cmd := exec.Command("make", append([]string{"-o", "built", "-f", makefile}, args...)...)
	cmd.Dir = root
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "M") && strings.Contains(s, "FLAGS=") })
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// buildGrader builds what make's goals are done by.
func buildGrader(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	build := exec.Command("go", "build", "-o", "out/bin/grader", "./grader")
	build.Dir = root
	said, err := build.CombinedOutput()
	require.NoError(t, err, string(said))
}

// explained is every goal with its variables, as `make help CMD=all` has them.
func explained(t *testing.T, makefile string) string {
	buildGrader(t)
	text, err := runMake(t, makefile, "help", "CMD=all")
	require.NoError(t, err, text)
	return text
}

func TestMakeRefusesWhatNoGoalTakes(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	buildGrader(t)
	students := filepath.Join("grader", "release", "tree", "Makefile")
	for _, c := range []struct{ makefile, args, says string }{
		{"Makefile", "grade TASK=2 CASE=softmax/17x113 SEED= -n", ""},
		{"Makefile", "help CMD=grade", "\n  CASE=softmax/17x113"},
		{"Makefile", "help CMD=all", "make gpt2: "},
		{"Makefile", "version", "no goal \"version\"; the grader has a command: out/bin/grader version"},
		{"Makefile", "grade TSAK=2", "make grade: no variable TSAK; do you mean TASK? It takes TASK CASE DETAILS "},
		{"Makefile", "grade TASK=2 task=3", "no variable task; do you mean TASK?"},
		{"Makefile", "pack TASK=2", "make pack: no variable TASK; it takes O QUICK"},
		{"Makefile", "lint TASK=2", "make lint: no variable TASK; it takes none"},
		{"Makefile", "test-all FRSH=1", "no variable FRSH; do you mean FRESH?"},
		{"Makefile", "TASK=2", "say what to do with TASK=2: make grade TASK=2"},
		{"Makefile", "greade TASK=2", `no goal "greade"; do you mean grade?`},
		{"Makefile", "grade 2", "do you mean make grade TASK=2?"},
		{"Makefile", "b3", "do you mean make grade TASK=b3?"},
		{"Makefile", "help grade", "make help CMD=grade"},
		{"Makefile", "gradebook", "out/bin/grader gradebook OUT"},
		{students, "test-all", `no goal "test-all"`},
	} {
		out, err := runMake(t, c.makefile, strings.Fields(c.args)...)
		assert.Contains(t, out, c.says, "make %s", c.args)
		if strings.HasPrefix(c.args, "help CMD") || c.says == "" {
			assert.NoError(t, err, "make %s: %s", c.args, out)
		} else {
			assert.Error(t, err, "make %s", c.args)
		}
	}
	t.Setenv("TSAK", "2") // not for make, perhaps
	_, err := runMake(t, "Makefile", "-n", "grade")
	assert.NoError(t, err)
}

// Whatever a student reads may be typed: no page of a release names a command or a variable that its make refuses.
func TestPagesNameWhatStudentsCanType(t *testing.T) {
	_, tree := made(t)
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	help := explained(t, filepath.Join("grader", "release", "tree", "Makefile"))
	takes, goal := map[string][]string{"update": {"FROM", "FORCE"}}, "" // which the course's own grader hides
	for _, row := range regexp.MustCompile(`(?m)^(?:make (\w+)|  ([A-Z_]+)=)`).FindAllStringSubmatch(help, -1) {
		if row[1] != "" {
			goal = row[1]
		} else {
			takes[goal] = append(takes[goal], row[2])
		}
	}
	command, variable := regexp.MustCompile(`\bmake (\w+)((?:\s+[A-Z_]+=[^\s`+"`"+`]*)+)`), regexp.MustCompile(`([A-Z_]+)=`)
	found := 0
	for name, text := range tree.Contents {
		if path.Ext(name) != ".md" {
			continue
		}
		assert.NotRegexp(t, `\b(?:MUTANT|SOLUTION|VERSION)=`, string(text), "%s: a command that students cannot run", name)
		for _, line := range command.FindAllStringSubmatch(string(text), -1) {
			for _, v := range variable.FindAllStringSubmatch(line[2], -1) {
				assert.Contains(t, takes[line[1]], v[1], "%s: %s", name, line[0])
				found++
			}
		}
	}
	assert.Greater(t, found, 100)
}
