package command

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// typed is where make leaves what it was given, for the test below: a recipe starts this program again.
const typed = "FLASHLAB_TYPED"

func TestMain(m *testing.M) {
	if file := os.Getenv(typed); file != "" {
		data, err := json.Marshal(values(overrides(os.Getenv("MAKEFLAGS"))))
		if err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

func values(all []variable) map[string]string {
	m := map[string]string{}
	for _, v := range all {
		m[v.key] = v.value
	}
	return m
}

// TestMakeHandsVariablesOverAsTheyWereTyped: with quotes, blanks, dollars, newlines and backslashes in them.
func TestMakeHandsVariablesOverAsTheyWereTyped(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	makefile := "MAKEFLAGS += --no-print-directory\na:\n\t@$(PROGRAM)\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Makefile"), []byte(makefile), 0o600))
	want := map[string]string{
		"PROMPT":     "x \"q\" 's' $b $$ $(shell echo no) \\n \\\\ -- é\nsecond line\ttab #h; & | `c` = a=b ",
		"TASK":       "2",
		"SUBMISSION": "a folder/with 'quotes'",
		"END":        `ends with \`,
		"SEED":       "",
	}
	file := filepath.Join(dir, "typed")
	args := []string{"-C", dir, "-k", "a"}
	for k, v := range want {
		args = append(args, k+"="+v)
	}
	cmd := exec.Command("make", args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "M") && strings.Contains(s, "FLAGS=") })
	cmd.Env = append(cmd.Env, typed+"="+file, "PROGRAM="+os.Args[0])
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var got map[string]string
	require.NoError(t, json.Unmarshal(data, &got))
	assert.Equal(t, want, got)
	assert.Empty(t, overrides("k --no-print-directory"))
	assert.Equal(t, []variable{{"TASK", "2"}}, overrides(" -j4 -- TASK:=2"))
}

func TestAVariableIsReadLikeItsFlag(t *testing.T) {
	var told []string
	var n int
	var on bool
	c := Command{Name: "write", Define: func(f *flag.FlagSet) Run {
		f.IntVar(&n, "runs", 5, "how `many`")
		f.BoolVar(&on, "details", false, "all")
		f.Var(&Passed{Name: "prompt", To: &told, Blank: true}, "prompt", "the `text`")
		Pass(f, &told, "prompt-tokens", "so `many`")
		return func([]string) (int, error) { return Full, nil }
	}}
	for _, one := range []struct {
		args []string
		n    int
		on   bool
		told []string
		err  string
	}{
		{[]string{"RUNS=7", "DETAILS=1", "PROMPT=", "PROMPT_TOKENS="}, 7, true, []string{"-prompt="}, ""},
		{[]string{"-runs", "7", "-details", "-prompt-tokens=3"}, 7, true, []string{"-prompt-tokens=3"}, ""},
		{[]string{"RUNS=", "DETAILS=no"}, 5, false, nil, ""},
		{[]string{"RUNS=x"}, 5, false, nil, "write: RUNS=x: want a whole number"},
		{[]string{"DETAILS=x"}, 5, false, nil, "write: DETAILS=x: want 1, or leave it out"},
		{[]string{"RUN=1"}, 5, false, nil, "write: no variable RUN; do you mean RUNS? It takes DETAILS PROMPT PROMPT_TOKENS RUNS"},
		{[]string{"-run", "1"}, 5, false, nil, "write: no flag -run; do you mean -runs? It takes DETAILS PROMPT PROMPT_TOKENS RUNS"},
		{[]string{"-runs"}, 5, false, nil, "write: -runs needs a value"},
		{[]string{"7"}, 5, false, nil, `write: unexpected argument "7"; variables look like TASK=2`},
	} {
		told = nil
		f, _ := c.flags()
		_, err := c.parse(f, one.args)
		if one.err != "" {
			assert.EqualError(t, err, one.err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, one.n, n)
		assert.Equal(t, one.on, on)
		assert.Equal(t, one.told, told)
	}
}
