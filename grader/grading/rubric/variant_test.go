package rubric

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/tasks/registry"
)

const year = `# A task.
points = 3.0
[limits]
case = 1

# about the first
[[check]]
id     = "a"
points = 1.0
case = [
  { name = "1x1" },
]

[[check]] # the second
id = "b"

# reported
[[report]]
title = "R"
`

func TestAVariantsChecksTakeTheirPlaces(t *testing.T) {
	merged, err := WithChecks(year, "# What differs.\n\n# new\n[[check]]\nid = \"c\"\n\n[[check]]\nid = \"a\"\npoints = 2.0\n")
	require.NoError(t, err)
	assert.Equal(t, `# A task.
points = 3.0
[limits]
case = 1

[[check]]
id = "a"
points = 2.0

[[check]] # the second
id = "b"

# new
[[check]]
id = "c"

# reported
[[report]]
title = "R"
`, merged)
	same, err := WithChecks(year, "# nothing\n")
	require.NoError(t, err)
	assert.Equal(t, year, same)
}

func TestAVariantChangesChecksAlone(t *testing.T) {
	for _, text := range []string{"points = 9.0\n", "[limits]\ncase = 100\n", "[[check]]\ntitle = \"without an id\"\n", "[[check]]\nid = \"a\"\n[[report]]\ntitle = \"x\"\n"} {
		_, err := WithChecks(year, text)
		assert.ErrorContains(t, err, "a variant changes checks alone", text)
	}
}

func TestAVariantsSectionsTakeTheirPlaces(t *testing.T) {
	page := "# Task\n\nWords.\n\n## What\n\nThis.\n\n### More\n\n## Points\n\n4\n\n## Hints\n\nNone.\n"
	assert.Equal(t, "# Task\n\nWords.\n\n## What\n\nThis.\n\n### More\n\n## This year\n\nA window.\n\n## And that\n\nToo.\n\n## Points\n\n5\n\n## Hints\n\nNone.\n",
		WithSections(page, "# About\n\nFor instructors.\n\n## This year\n\nA window.\n\n## Points\n\n5\n\n## And that\n\nToo.\n"))
	assert.Equal(t, page, WithSections(page, "# About\n"))
}

// The course's own: each variant changes something, keeps every task's points, and says which there are.
func TestTheCoursesVariants(t *testing.T) {
	root := "../../.."
	names, err := Variants(root)
	require.NoError(t, err)
	assert.Contains(t, names, "window")
	plain, err := LoadAll(root)
	require.NoError(t, err)
	for _, name := range names {
		all, err := LoadVariant(root, name)
		require.NoError(t, err)
		changed := 0
		for i, task := range all {
			assert.Equal(t, plain[i].Points, task.Points)
			if task.Variant == "" {
				assert.Equal(t, plain[i].Measured(), task.Measured(), "%s: what was measured of it still counts", task.Dir)
				continue
			}
			changed++
			assert.NotEqual(t, plain[i].Measured(), task.Measured(), task.Dir)
			for _, f := range task.Files {
				if !slices.Contains(task.Honours, f) { // a solution may lack these, as a submission may
					assert.FileExists(t, filepath.Join(root, task.Solution(), f))
				}
			}
			handout, err := os.ReadFile(filepath.Join(root, VariantDir(task.Dir, name), "README.md"))
			require.NoError(t, err)
			assert.NotContains(t, string(handout), "\n## Questions\n", "the answers are the task's own")
		}
		assert.Positive(t, changed)
	}
	_, err = LoadVariant(root, "widow")
	assert.ErrorContains(t, err, `there is no variant "widow"; there is window`)
}

func TestAVariantsRubricIsCheckedAsStrictly(t *testing.T) {
	root := t.TempDir()
	copied, err := os.ReadFile("../../../task4_flash/rubric.toml")
	require.NoError(t, err)
	dir := filepath.Join(root, "task4_flash", VariantsDir, "x")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "task4_flash", "rubric.toml"), copied, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rubric.toml"), []byte("[[check]]\nid = \"causal\"\ntitle = \"T\"\nop = \"flash\"\npoints = 1.0\n"), 0o644))
	_, err = load(root, registry.Task{Name: "4", Dir: "task4_flash"}, registry.All, "x")
	assert.ErrorContains(t, err, `task4_flash/rubric.toml with the checks of the variant "x": the checks' points add up to 3, the task's are 4`)
}
