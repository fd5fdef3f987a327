package release

import (
	"archive/zip"
	"context"
	"io/fs"
	"maps"
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

	"flashlab/grader/edition"
	"flashlab/grader/grading/copies"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// made is the release of the last commit; without git there is none to make.
func made(t *testing.T) (string, *Tree) {
	root, err := repo.Root()
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("this tree is no git repository")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	tree, err := once(root)
	require.NoError(t, err)
	return root, tree
}

var once = func() func(string) (*Tree, error) {
	var tree *Tree
	var err error
	return func(root string) (*Tree, error) {
		if tree == nil && err == nil {
			tree, err = Make(context.Background(), root, "9.9", Year{})
		}
		return tree, err
	}
}()

func TestReleaseIsTheSameEveryTimeAndGradesStubs(t *testing.T) {
	root, tree := made(t)
	dir := t.TempDir()
	folder, zipped, err := tree.Write(dir)
	require.NoError(t, err)
	assert.Regexp(t, `^9\.9-[0-9a-f]{10}$`, tree.Name)
	assert.Equal(t, tree.Name, edition.Name(folder))
	assert.NotEqual(t, tree.Name, edition.Name(root))

	again, err := Make(context.Background(), root, "9.9", Year{})
	require.NoError(t, err)
	_, zippedAgain, err := again.Write(t.TempDir())
	require.NoError(t, err)
	one, err := os.ReadFile(zipped)
	require.NoError(t, err)
	two, err := os.ReadFile(zippedAgain)
	require.NoError(t, err)
	assert.Equal(t, one, two)

	z, err := zip.OpenReader(zipped)
	require.NoError(t, err)
	defer z.Close()
	inZip, err := fs.Sub(z, "flashlab-"+tree.Name)
	require.NoError(t, err)
	m, err := edition.Load(inZip)
	require.NoError(t, err)
	assert.Empty(t, m.Changed(folder))
	assert.Len(t, z.File, len(m.Files)+len(m.Yours)+1)
	assert.Contains(t, m.Yours, "Results.md", "it is the student's to answer in")

	tasks, err := rubric.LoadAll(folder)
	require.NoError(t, err)
	ours, err := rubric.LoadAll(root)
	require.NoError(t, err)
	assert.Len(t, tasks, len(ours))
	for _, task := range tasks {
		assert.Empty(t, task.MissingFiles(folder))
		for _, c := range task.Checks {
			for _, k := range c.Cases {
				assert.False(t, k.Hidden)
			}
		}
	}
	for name := range tree.Contents {
		assert.NotRegexp(t, `(^|/)(solution|mutants|exploits)/|^device/corpus/.*/`, name)
	}
	assert.Contains(t, string(tree.Contents["README.md"]), "| [1 reference]")
	assert.NotContains(t, string(tree.Contents["README.md"]), "<!-- section")

	_, err = os.Stat(folder + "/scripts/setup.sh")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go.mod"), []byte("changed"), 0o644))
	_, _, err = tree.Write(dir)
	assert.ErrorContains(t, err, "not as it was written")
}

// Neither tree may import what stays behind; students get nothing that only instructors use.
func TestTheTreesImportWhatTheyHave(t *testing.T) {
	root, tree := made(t)
	grading, err := Grading(context.Background(), root)
	require.NoError(t, err)
	for _, tree := range []*Tree{tree, grading} {
		folder, _, err := tree.Write(t.TempDir())
		require.NoError(t, err)
		cmd := exec.Command("go", "list", "-deps", "./...")
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, string(out))
	}
	for _, name := range instructors {
		for have := range tree.Contents {
			assert.False(t, below(have, []string{name}), have)
		}
		has := slices.ContainsFunc(edition.Sorted(grading.Contents), func(have string) bool { return below(have, []string{name}) })
		assert.True(t, has, "%s: there is nothing of that name", name)
	}
	for name := range grading.Contents {
		assert.NotRegexp(t, `(^task.*/solution|^grader/trial/(specimens|_bases))/`, name)
	}
}

// What the students' Makefile and README name must be there.
func TestReleaseNamesWhatItHas(t *testing.T) {
	_, tree := made(t)
	for _, word := range strings.Fields(string(tree.Contents["Makefile"])) {
		if strings.HasPrefix(word, "scripts/") {
			assert.Contains(t, tree.Contents, word)
		}
	}
	for _, no := range []string{"SOLUTION=1", "MUTANT", "-solution", "solution/"} {
		assert.NotContains(t, string(tree.Contents["Makefile"]), no)
		assert.NotContains(t, string(tree.Contents["README.md"]), no)
	}
}

// TestAYearTellsAssistants: the course's page is there, an instructor's is there in its place, or none.
func TestAYearTellsAssistants(t *testing.T) {
	_, tree := made(t)
	assert.Contains(t, string(tree.Contents[agents]), "write or complete a function")
	other := &Tree{Contents: maps.Clone(tree.Contents)}
	own, none := "Ours.", ""
	Year{Agents: &own}.tell(other)
	assert.Equal(t, own, string(other.Contents[agents]))
	Year{Agents: &none}.tell(other)
	assert.NotContains(t, other.Contents, agents)
}

func TestPlantedLeaksAreFound(t *testing.T) {
	_, tree := made(t)
	root, err := repo.Root()
	require.NoError(t, err)
	solution, err := os.ReadFile(filepath.Join(root, "task4_flash", "solution", "kernels.cu"))
	require.NoError(t, err)
	course := map[string][]byte{"task4_flash/solution/kernels.cu": solution, "task4_flash/kernels.cu": tree.Contents["task4_flash/kernels.cu"]}
	lines := strings.Split(string(solution), "\n")
	middle := strings.Join(lines[len(lines)/2:len(lines)/2+25], "\n")
	for name, text := range map[string]string{
		"docs/gpu.md":                    "For example:\n\n```\n" + middle + "\n```\n",
		"attn/attn.go":                   "// Package attn …\npackage attn\n/*\n" + strings.ReplaceAll(middle, "\n", " \n\t") + "\n*/",
		"task4_flash/kernels.cu":         string(solution),
		"task4_flash/solution/x.md":      "words",
		"grader/x/specimens/exploits/a":  "words",
		"grader/x/_bases/task9_x/a/k.cu": "words",
		"grader/x/mutants/a/none.toml":   "words",
	} {
		leaks := Leaks(course, map[string][]byte{name: []byte(text)})
		if assert.Len(t, leaks, 1, name) {
			assert.Contains(t, leaks[0], name)
		}
	}
	assert.Empty(t, Leaks(course, tree.Contents))

	// What a version tells by a diff is a secret, too.
	diff := map[string][]byte{"task4_flash/solution/_versions/1_x/kernels.cu.diff": []byte("Why.\n@@\n old\n+" + strings.ReplaceAll(middle, "\n", "\n+") + "\n")}
	assert.Len(t, Leaks(diff, map[string][]byte{"docs/gpu.md": []byte(middle)}), 1)
}

// Students have kernels and functions to grade themselves, and some come close to what a task asks for.
// Each that is long enough to tell is held, whichever task it is pasted into.
func TestEachShippedFunctionIsHeldInEachTask(t *testing.T) {
	root, tree := made(t)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	own := handin.Names(tasks)
	shipped, err := copies.Shipped(root, own)
	require.NoError(t, err)
	library := copies.NewLibrary(shipped)
	transplants := 0
	for _, name := range edition.Sorted(tree.Contents) {
		if ext := path.Ext(name); slices.Contains(own, name) || ext != ".go" && ext != ".cu" && ext != ".h" {
			continue
		}
		data := tree.Contents[name]
		require.Equal(t, string(data), string(shipped[name]), "%s is shipped, and nothing is compared with it", name)
		lines := strings.Split(string(data), "\n")
		for _, f := range copies.Functions(name, data) {
			text := strings.Join(lines[f.From-1:f.To], "\n")
			for _, student := range own {
				if isGo := path.Ext(name) == ".go"; isGo != (path.Ext(student) == ".go") {
					continue
				}
				pasted := append(slices.Clone(tree.Contents[student]), "\n\n"+text+"\n"...)
				assert.NotEmpty(t, library.Find(student, pasted), "%s:%d in %s", name, f.From, student)
				transplants++
			}
		}
	}
	assert.Greater(t, transplants, 1000)
	t.Logf("%d transplants of %d functions", transplants, len(library.Functions))
	for _, name := range own {
		assert.Empty(t, library.Find(name, tree.Contents[name]), "the stub %s", name)
	}
}

func TestHiddenCasesAreTakenOutAndCounted(t *testing.T) {
	text := `title = "x"
[[check]]
id = "a"
case = [
  { name = "1x1", shape = [1, 1, 1], dist = "normal" },
  { name = "3x3", shape = [3, 3, 1], dist = "normal", hidden = true },
  { name = "4x4", weight = 2.5, hidden = true, shape = [4, 4, 1], dist = "normal" }, # tricky
]
[[check]]
id = "b"
case = [
  { name = "2x2", shape = [2, 2, 1], dist = "normal" },
]
[[check]]
id = "c"
hidden = { random = 2, shape = [[18, 70], [1, 3]], dist = ["large"], weight = 0.5 } # drawn
case = [
  { name = "5x5", shape = [5, 5], dist = "normal" },
  { name = "6x6", shape = [6, 6], dist = "normal", hidden = true },
]
`
	shown, err := withoutHidden("rubric.toml", []byte(text))
	require.NoError(t, err)
	assert.NotContains(t, string(shown), "3x3")
	assert.NotContains(t, string(shown), "tricky")
	assert.Equal(t, 2, strings.Count(string(shown), "withheld = "))
	assert.NotContains(t, string(shown), "random", "not even between which sizes")
	assert.Contains(t, string(shown), "[[check]]\nwithheld = 3 ")
	assert.Contains(t, string(shown), "\nwithheld_weight = 2 ")
	assert.Contains(t, string(shown), "[[check]]\nwithheld = 2 ")
	assert.Contains(t, string(shown), "\nwithheld_weight = 3.5 ")

	same, err := withoutHidden("rubric.toml", shown)
	require.NoError(t, err)
	assert.Equal(t, string(shown), string(same))

	_, err = withoutHidden("rubric.toml", []byte("[[check]]\nid = \"a\"\n[[check.case]]\nname = \"9x9\"\nhidden = true\n"))
	assert.ErrorContains(t, err, "a/9x9")
	_, err = withoutHidden("rubric.toml", []byte("[[check]]\nid = \"a\"\n[check.hidden]\nrandom = 2\n"))
	assert.ErrorContains(t, err, "on one line")
}

// fenced is code, where brackets and parentheses are no link.
var fenced = regexp.MustCompile("(?ms)^```.*?^```")

var link = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)

// A page that students get names no page that they do not get.
func TestLinksLeadSomewhere(t *testing.T) {
	_, tree := made(t)
	for name, text := range tree.Contents {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, m := range link.FindAllSubmatch(fenced.ReplaceAll(text, nil), -1) {
			to := string(m[1])
			if strings.Contains(to, "://") {
				continue
			}
			to = path.Join(path.Dir(name), to)
			_, file := tree.Contents[to]
			folder := slices.ContainsFunc(edition.Sorted(tree.Contents), func(n string) bool { return strings.HasPrefix(n, to+"/") })
			assert.True(t, file || folder, "%s leads to %s, which is not in the release", name, to)
		}
	}
}
