package command

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// list is of commands that write down what they were asked for.
func list(said *string) List {
	do := func(f *flag.FlagSet) Run {
		task := f.String("task", "", "number of the `task`")
		return func(args []string) (int, error) {
			*said = *task + " " + strings.Join(args, ",")
			if *task == "9" {
				return Failed, errors.New("there is no task 9")
			}
			return Less, nil
		}
	}
	return List{
		{Name: "grade", Summary: "grade a task", Usage: "-task 2", Define: do},
		{Name: "batch", Summary: "grade a class", Args: Places, Group: "for instructors", Define: do},
		{Name: "run", Summary: "start it", Args: Rest, Group: "for instructors", Define: do},
		{Name: "secret", Summary: "for machines", Hidden: true, Define: do},
	}
}

func TestArgumentsOfEachKind(t *testing.T) {
	for _, c := range []struct {
		line string
		code int
		said string
	}{
		{"grade -task 2", Less, "2 "}, {"grade --task=2", Less, "2 "}, {"grade 2", Failed, ""}, {"grade TASK=2", Less, "2 "}, {"grade TASK=", Less, " "}, {"grade TSAK=2", Failed, ""}, {"batch A TASK=2 b=c", Less, "2 A,b=c"}, {"grade -x", Failed, ""}, {"grade -task 9", Failed, "9 "},
		{"batch A -task 2 B", Less, "2 A,B"}, {"run -task 2 x -task 3", Less, "2 x,-task,3"}, {"secret", Less, " "},
		{"grade -help", Full, ""}, {"-help", Full, ""}, {"help", Full, ""}, {"help run", Full, ""}, {"help me", Failed, ""}, {"completion", Full, ""}, {"", Failed, ""}, {"grad", Failed, ""},
	} {
		var said string
		assert.Equal(t, c.code, list(&said).Execute(strings.Fields(c.line)), c.line)
		assert.Equal(t, c.said, said, c.line)
	}
}

func TestHelpIsMadeOfTheList(t *testing.T) {
	help := list(new(string)).withHelp().help()
	assert.Contains(t, help, "\ncommands:\n  grade       grade a task\n")
	assert.Contains(t, help, "\nfor instructors:\n  batch       grade a class\n  run ")
	assert.NotContains(t, help, "secret")
}

func TestAMistypedNameHasANearestOne(t *testing.T) {
	l := list(new(string)).withHelp()
	names := l.names()
	for typed, near := range map[string]string{"grad": "grade", "gradee": "grade", "bacth": "batch", "rn": "run", "hepl": "help", "graed": "grade", "profile": "", "secre": ""} {
		assert.Equal(t, near, nearest(typed, names), typed)
	}
	_, err := l.find("grad")
	assert.EqualError(t, err, `there is no command "grad"; do you mean grade?`)
}

func TestBashCompletes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "completion")
	require.NoError(t, os.WriteFile(file, []byte(list(new(string)).withHelp().completion()), 0o644))
	for typed, want := range map[string]string{
		"grader ": "grade batch run completion help", "grader gr": "grade", "grader grade -": "-task -help", "grader grade T": "TASK=", "grader grade x": "", "grader help b": "batch", "grader none -": "",
	} {
		words := strings.Split(typed, " ")
		quoted := "'" + strings.Join(words, "' '") + "'"
		out, err := exec.Command(bash, "-c", `. "$1"; COMP_WORDS=(`+quoted+`); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _grader; echo "${COMPREPLY[@]}"`, "bash", file).CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Equal(t, want, strings.TrimSpace(string(out)), typed)
	}
}

func TestDoIsACommandWithoutFlags(t *testing.T) {
	done := false
	l := List{{Name: "demo", Define: Do(func() error { done = true; return nil })}}
	assert.Equal(t, Full, l.Execute([]string{"demo"}))
	assert.True(t, done)
	l[0].Define = Do(func() error { return errors.New("broken") })
	assert.Equal(t, Failed, l.Execute([]string{"demo"}))
}
