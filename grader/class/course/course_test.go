package course

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/tasks/registry"
)

var tasks = []registry.Name{"1", "2", "3"}

const full = `
title    = "Attention, autumn"
tasks    = [1, 2]
seed     = "a secret"
timezone = "Europe/Berlin"
deadline = "2026-12-01 23:59"
attempt  = "best"
limit    = "5m"

[late]
days    = 3
percent = 10.0
grace   = "10m"

[task.2]
points   = 5.0
deadline = "2026-12-08T23:59:00Z"

[speed]
none = 0.1
full = 1.2

[visibility]
results = "after_published"

[canvas]
total = "Attention (4711)"
tasks = { 2 = "Task 2" }

[[manual]]
id = "questions"
task = 1
points = 0.5
`

func TestACourseIsRead(t *testing.T) {
	c, err := Parse("course.toml", full, tasks)
	require.NoError(t, err)
	assert.Equal(t, "2026-12-01T22:59:00Z", c.Due("1").UTC().Format(time.RFC3339))
	assert.Equal(t, "2026-12-08T23:59:00Z", c.Due("2").UTC().Format(time.RFC3339))
	assert.Equal(t, 10*time.Minute, c.Grace())
	assert.Equal(t, 5*time.Minute, c.TaskLimit())
	assert.True(t, c.Graded("2"))
	assert.False(t, c.Graded("3"))
	assert.Equal(t, Best, c.Attempt)
	assert.Equal(t, "after_published", c.Visibility.Hidden, "as the results")
}

func TestAVariantIsOneThatThereIs(t *testing.T) {
	c, err := Parse("course.toml", "variant = \"window\"\n", tasks, "window")
	require.NoError(t, err)
	assert.Equal(t, "window", c.Variant)
	_, err = Parse("course.toml", "variant = \"window\"\n", tasks)
	assert.ErrorContains(t, err, `there is no variant "window", nor any other`)
}

func TestWithoutAFile(t *testing.T) {
	c := Default()
	assert.True(t, c.Graded("7"))
	assert.True(t, c.Due("1").IsZero())
	assert.Equal(t, Last, c.Attempt)
}

func TestMistakesAreNamedWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"title = 3":                         "course.toml:1: ",
		"titel = \"x\"":                     `course.toml:1: unknown key "titel"`,
		"\n[late]\nday = 3":                 `course.toml:3: unknown key "late.day"`,
		"\ntasks = [1, 9]":                  "course.toml:2: tasks = [1 9]: want numbers of [1 2 3], each once",
		"tasks = [1, 1]":                    "each once",
		"timezone = \"Mars\"":               `course.toml:1: timezone = "Mars": want a name like "Europe/Berlin"`,
		"deadline = \"tomorrow\"":           `course.toml:1: deadline = "tomorrow": want a time like`,
		"[task.2]\n\ndeadline = \"1.12.\"":  "course.toml:3: task.2.deadline",
		"[task.9]\npoints = 1.0":            "course.toml:1: task.9 is for no task that there is",
		"[late]\npercent = 200.0":           "course.toml:2: late.percent = 200",
		"[late]\ngrace = \"soon\"":          "course.toml:2: late.grace",
		"attempt = \"luckiest\"":            "want last, best or first",
		"[speed]\nnone = 1.0\nfull = 0.5":   "course.toml:1: speed has none = 1",
		"[visibility]\nresults = \"maybe\"": "course.toml:2: visibility.results",
		"[visibility]\nhidden = \"never\"":  "course.toml:2: visibility.hidden",
		"[visibility]\nresults = \"hidden\"\nhidden = \"visible\"": "course.toml:3: visibility.hidden",
		"[[manual]]\nid = \"a\"\ntask = 1":                         "manual.points",
		"[[manual]]\nid=\"a\"\npoints=1.0\ntask=8":                 "course.toml:4: manual.task = 8",
		"tasks = [":             "course.toml:1: ",
		"\nvariant = \"widow\"": `course.toml:2: variant = "widow": there is no variant "widow"; there is ring, window`,
	} {
		_, err := Parse("course.toml", text, tasks, "ring", "window")
		assert.ErrorContains(t, err, want, text)
	}
}

func TestOnlyWhatDecidesOnMeasurementsIsInTheKey(t *testing.T) {
	a, err := Parse("c", full, tasks)
	require.NoError(t, err)
	b := *a
	b.Late.Days, b.Tasks, b.Speed = 9, []registry.Name{"1"}, nil
	assert.Equal(t, a.Key(), b.Key())
	b.Seed = "another"
	assert.NotEqual(t, a.Key(), b.Key())
}

func TestAnItemMayBeMarkedByQuestion(t *testing.T) {
	c, err := Parse("course.toml", "[[manual]]\nid = \"essay\"\ntask = 1\npoints = 2\n[[manual]]\nid = \"q\"\ntitle = \"Answers\"\ntask = 2\nquestions = { 10 = 0.5, 2 = 0.25 }\n", tasks)
	require.NoError(t, err)
	assert.InDelta(t, 0.75, c.Manual[1].Points, 1e-9)
	assert.Equal(t, []Item{{"essay", "", "1", 2, 0}, {"q/2", "Answers, question 2", "2", 0.25, 2}, {"q/10", "Answers, question 10", "2", 0.5, 10}}, c.Items())
	for text, why := range map[string]string{"points = 2\nquestions = { 1 = 0.5 }": "the questions of q have 0.5", "questions = { 0 = 1.0 }": "want questions' numbers", "questions = { a = 1.0 }": "want questions' numbers", "questions = { 1 = 0.0 }": "points above 0", "questions = {}": "points"} {
		_, err := Parse("course.toml", "[[manual]]\nid = \"q\"\ntask = 2\n"+text+"\n", tasks)
		assert.ErrorContains(t, err, why, text)
	}
}

func TestSlipDaysAreANumber(t *testing.T) {
	c, err := Parse("course.toml", "[late]\nslip = 5\n", tasks)
	require.NoError(t, err)
	assert.Equal(t, 5, c.Late.Slip)
	for _, wrong := range []string{"-1", "201"} {
		_, err := Parse("course.toml", "[late]\nslip = "+wrong+"\n", tasks)
		assert.ErrorContains(t, err, "course.toml:2: late.slip = "+wrong)
	}
}
