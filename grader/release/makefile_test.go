package release

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/repo"
)

// makefiles are the course's, and that of the students' tree.
func makefiles(t *testing.T) (ours, students string) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	students, err := filepath.Abs("tree/Makefile")
	require.NoError(t, err)
	return "Makefile", students
}

// runMake says what make would do, and whether it would. What `make test` itself was
// given stays out of it.
func runMake(t *testing.T, makefile string, args ...string) (string, error) {
	root, err := repo.Root()
	require.NoError(t, err)
	cmd := exec.Command("make", append([]string{"-f", makefile}, args...)...)
	cmd.Dir = root
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "M") && strings.Contains(s, "FLAGS=") })
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestMakeKnowsItsVariables(t *testing.T) {
	ours, students := makefiles(t)
	for _, c := range []struct{ makefile, args, says string }{
		{ours, "grade", ""},
		{ours, "grade TASK=2 CASE=softmax/17x113 SEED=", ""},
		{ours, "grade TASK=2 SOLUTION=1 VERSION=2_registers", ""},
		{ours, "grade pack TASK=2", ""},
		{ours, "pack CXX=clang++ FLASHLAB_ALL=1 GOFLAGS=-v V=1", ""},
		{ours, "grade TSAK=2", "make grade: no variable TSAK (it takes TASK CASE DETAILS SEED "},
		{ours, "grade TASK=2 task=3", "no variable task "},
		{ours, "pack TASK=2", "make pack: no variable TASK (it takes none)"},
		{ours, "TASK=2", "make help: no variable TASK"},
		{ours, "graed TASK=2", "No rule to make target 'graed'"},
		{ours, "bench TASK=4 DOCS=1", ""},
		{students, "grade TASK=2 SEED=3", ""},
		{students, "update FROM=x.zip FORCE=1", ""},
		{students, "grade TSAK=2", "no variable TSAK (it takes TASK CASE "},
		{students, "grade TASK=2 SOLUTION=1", "no variable SOLUTION (it takes TASK CASE "},
		{students, "grade TASK=2 MUTANT=x VERSION=y", "(it takes TASK CASE "},
		{students, "bench TASK=4 DOCS=1", "no variable DOCS (it takes TASK WORKLOAD "},
		{students, "test-all", "No rule to make target 'test-all'"},
	} {
		out, err := runMake(t, c.makefile, append([]string{"-n"}, strings.Fields(c.args)...)...)
		if c.says == "" {
			assert.NoError(t, err, "make %s: %s", c.args, out)
		} else {
			assert.Error(t, err, "make %s", c.args)
			assert.Contains(t, out, c.says, "make %s", c.args)
		}
	}
	t.Setenv("TSAK", "2") // not for make, perhaps
	_, err := runMake(t, ours, "-n", "grade")
	assert.NoError(t, err)
}

// The table, the recipes and the words of `make help` speak of the same variables.
func TestMakeVariablesDoSomethingAndAreExplained(t *testing.T) {
	ours, students := makefiles(t)
	root, err := repo.Root()
	require.NoError(t, err)
	row := regexp.MustCompile(`(?m)^takes\.([a-z0-9-]+) *:= (.*)$`)
	used := regexp.MustCompile(`\(([A-Z_]+)\)`)
	for _, makefile := range []string{filepath.Join(root, ours), students} {
		text, err := os.ReadFile(makefile)
		require.NoError(t, err)
		help, err := runMake(t, makefile)
		require.NoError(t, err)
		all := map[string]bool{}
		for _, m := range row.FindAllStringSubmatch(string(text), -1) {
			plain, err := runMake(t, makefile, "-n", m[1])
			require.NoError(t, err)
			for v := range strings.FieldsSeq(m[2]) {
				all[v] = true
				// Some look only whether KERNELS is given, others pass on what it is.
				out, err := runMake(t, makefile, "-n", m[1], v+"=given")
				assert.NoError(t, err, out)
				assert.NotEqual(t, plain, out, "%s: make %s takes %s, and does nothing with it", makefile, m[1], v)
				assert.Contains(t, help, v+"=", "%s: make help does not explain %s", makefile, v)
			}
		}
		assert.NotEmpty(t, all)
		for _, m := range used.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains([]string{"GRADER", "COMMANDS", "THIS", "CLANG_FORMAT", "CUDA_FILES", "MAKEFILE_LIST"}, m[1]) && !strings.HasSuffix(m[1], "_FLAGS") {
				assert.Contains(t, slices.Collect(maps.Keys(all)), m[1], "%s: no command takes it", makefile)
			}
		}
	}
}
