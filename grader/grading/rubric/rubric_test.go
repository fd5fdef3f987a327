package rubric

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/tasks/registry"
)

const good = `
package = "demo"
title = "Demo"
points = 2.0
files = ["a.go", "k.cu"]
[limits]
build = 1
case = 1
output = 1
steps = 1
[shares]
correctness = 0.6
safety = 0.15
traffic = 0.25
[traffic]
full = 1.6
none = 4.0
[[check]]
id = "softmax"
title = "Softmax"
op = "softmax"
points = 2.0
case = [
  { name = "2x3", shape = [2, 3, 1], dist = "normal", traffic = true },
  { name = "hid", shape = [2, 3, 1], dist = "large", hidden = true, weight = 2.0 },
]
`

// demo are the tasks of a course that these tests make up.
var demo = registry.List{{Name: "1", Dir: "task1_none"}, {Name: "2", Dir: "task2_demo"}, {Name: "3", Dir: "task3_whole"}}

func loadText(t *testing.T, text string) (*Task, error) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "task2_demo"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "task2_demo", "rubric.toml"), []byte(text), 0o644))
	return load(root, demo[1], demo, "")
}

func TestLoadReadsARubric(t *testing.T) {
	task, err := loadText(t, good)
	require.NoError(t, err)
	assert.EqualValues(t, "2", task.Name)
	assert.Equal(t, "task2_demo", task.Dir)
	require.Len(t, task.Checks, 1)
	assert.Equal(t, 1.0, task.Checks[0].Cases[0].Weight)
	assert.Equal(t, 2.0, task.Checks[0].Cases[1].Weight)
	assert.True(t, task.Checks[0].Cases[1].Hidden)
	assert.InDelta(t, 2.0/3, task.Checks[0].hiddenShare(), 1e-9)
}

func TestHeadersAreFilesThatKernelsMayInclude(t *testing.T) {
	task, err := loadText(t, strings.Replace(good, `"k.cu"`, `"k.cu", "tile.cuh"`, 1))
	require.NoError(t, err)
	assert.Equal(t, []string{"tile.cuh"}, task.Headers())
}

// A release has its hidden cases' weight in place of the cases: nobody's points change.
func TestHiddenPointsAreTheSameInARelease(t *testing.T) {
	released := strings.Replace(good, `op = "softmax"`, "op = \"softmax\"\nwithheld = 1\nwithheld_weight = 2.0", 1)
	released = strings.Replace(released, `  { name = "hid", shape = [2, 3, 1], dist = "large", hidden = true, weight = 2.0 },`, `  { name = "big", shape = [2, 3, 1], dist = "large", gpu = true },`, 1)
	task, err := loadText(t, released)
	require.NoError(t, err)
	assert.InDelta(t, 2.0/3, task.Checks[0].hiddenShare(), 1e-9, "a case for a GPU alone does not count")
	assert.Zero(t, Check{Cases: []Case{{Weight: 1}}}.hiddenShare())
}

func TestACheckMayHaveItsOwnSharesAndCurve(t *testing.T) {
	own := strings.Replace(good, `op = "softmax"`, "op = \"softmax\"\nshares = { correctness = 0.4, traffic = 0.6 }\ntraffic = { full = 1.25, none = 3.0 }", 1)
	task, err := loadText(t, own)
	require.NoError(t, err)
	assert.Equal(t, Shares{Correctness: 0.4, Traffic: 0.6}, task.Split(task.Checks[0]))
	assert.Equal(t, Curve{1.25, 3}, task.Curve(task.Checks[0]))
	assert.Equal(t, 0.15, task.Split(Check{}).Safety)
}

// TestAnOptionalCheckHasNoPoints, and its shares are of a point that is in no total.
func TestAnOptionalCheckHasNoPoints(t *testing.T) {
	task, err := loadText(t, good+`
[[check]]
id = "extra"
title = "Extra"
op = "softmax"
optional = true
case = [{ name = "2x3", shape = [2, 3, 1], dist = "normal", traffic = true }]
`)
	require.NoError(t, err)
	assert.Equal(t, Parts{Correctness: 0.6, Safety: 0.15, Traffic: 0.25}, task.Parts(task.Checks[1]))
	assert.Equal(t, 2.0, task.Points)
	assert.Len(t, task.Scored().Checks, 1)
	assert.Len(t, task.Checks, 2, "the task itself keeps it")
}

func TestLoadRefusesMistakes(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown key":        {`title = "Demo"`, "titel = \"Demo\"\ntitle = \"Demo\"", `unknown key "titel"`},
		"unknown case key":   {"hidden = true", "hiden = true", "hiden"},
		"points do not add":  {"points = 2.0\nfiles", "points = 3.0\nfiles", "add up to 2"},
		"shares do not add":  {"safety = 0.15", "safety = 0.25", "1 in all"},
		"own shares too":     {`op = "softmax"`, "op = \"softmax\"\nshares = { correctness = 0.5 }", `check "softmax": shares 0.5`},
		"same case twice":    {`name = "hid"`, `name = "2x3"`, "taken"},
		"file outside":       {`"k.cu"`, `"../k.cu"`, `"../k.cu"`},
		"header outside":     {`"k.cu"`, `"k.cu", "../tile.cuh"`, `"../tile.cuh"`},
		"honours of others":  {"[limits]", "honours = [\"tile.cuh\"]\n[limits]", `honours: "tile.cuh" is not among files`},
		"header provided":    {"[limits]", "provided = [\"tile.cuh\"]\n[limits]", `"tile.cuh": want distinct names`},
		"header of C's name": {`"k.cu"`, `"k.cu", "math.h"`, `"math.h"`},
		"after nothing":      {`op = "softmax"`, "op = \"softmax\"\nafter = [\"x\"]", `after "x"`},
		"no such device":     {"package =", "device = \"tpu\"\npackage =", `device = "tpu"`},
		"no device's safety": {"package =", "device = \"none\"\npackage =", "without a device"},
		"uses itself":        {"package =", "uses = [2]\npackage =", "earlier tasks"},
		"uses one twice":     {"package =", "uses = [1, 1]\npackage =", "earlier tasks"},
		"uses nothing there": {"package =", "uses = [1]\npackage =", "uses 1: "},
		"no limit":           {"steps = 1", "steps = 0", "limits"},
		"curve upside down":  {"full = 1.6", "full = 5.0", "full < none"},
		"no traffic case":    {", traffic = true", "", "no case says traffic"},
		"not TOML":           {"[limits]", "[limits", "rubric.toml:"},
		"negative weight":    {"weight = 2.0", "weight = -2.0", "weight"},
		"all hidden":         {`traffic = true }`, `hidden = true }`, "all of its cases are hidden"},
		"hidden traffic":     {"hidden = true", "hidden = true, traffic = true", "hidden = true and traffic = true"},
		"hidden, for a GPU":  {"hidden = true", "hidden = true, gpu = true", "hidden = true and gpu = true"},
		"withheld alone":     {`op = "softmax"`, "op = \"softmax\"\nwithheld = 2", "belong together"},
		"report of no kind":  {"[[check]]", "[[report]]\ntitle = \"x\"\n[[check]]", `report "x": kind = ""`},
		"race of nothing":    {"[[check]]", "[[report]]\ntitle = \"x\"\nkind = \"race\"\n[[check]]", "a race has rows"},
		"text of nothing":    {"[[check]]", "[[report]]\ntitle = \"x\"\nkind = \"text\"\n[[check]]", "a model writes tokens"},
		"row of nothing":     {"[[check]]", "[[report]]\ntitle = \"x\"\nkind = \"race\"\nrow = [{ title = \"y\", op = \"z\" }]\n[[check]]", `row "y": want`},
		"untimed of others":  {"[[check]]", "[bench]\nuntimed = [\"tile.cuh\"]\n[[check]]", `untimed: "tile.cuh" is not among files`},
		"optional, scored":   {`op = "softmax"`, "op = \"softmax\"\noptional = true", "an optional check has none"},
		"points not numbers": {"points = 2.0\nfiles", "points = nan\nfiles", "points"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		require.NotEqual(t, good, text, name)
		_, err := loadText(t, text)
		assert.ErrorContains(t, err, c.want, name)
	}
}

func TestATaskMayUseEarlierOnes(t *testing.T) {
	root := t.TempDir()
	whole := strings.Replace(good, `files = ["a.go", "k.cu"]`, "uses = [2]", 1)
	for dir, text := range map[string]string{"task2_demo": good, "task3_whole": whole} {
		require.NoError(t, os.Mkdir(filepath.Join(root, dir), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, dir, "rubric.toml"), []byte(text), 0o644))
	}
	task, err := load(root, demo[2], demo, "")
	require.NoError(t, err)
	require.Len(t, task.Used, 1)
	assert.Equal(t, "task2_demo", task.Used[0].Dir)
	assert.Equal(t, []string{"task2_demo/a.go", "task2_demo/k.cu"}, task.MissingFiles(root))
}

func TestFindNamesWhatThereIs(t *testing.T) {
	tasks := []*Task{{Name: "2", Dir: "task2_unfused"}}
	found, err := Find(tasks, "2")
	require.NoError(t, err)
	assert.Len(t, found, 1)
	_, err = Find(tasks, "9")
	assert.ErrorContains(t, err, "task2_unfused")
}
