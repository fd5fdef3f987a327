package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/trial"
)

const mutant = "about = \"a\"\nbase = \"BASE\"\nfate = \"loses\"\nlose = [\"sum safety\"]\n[[edit]]\nfile = \"FILE\"\nfind = \"FIND\"\nreplace = \"other\"\n"

// course is a tree of two tasks, one of which uses the other, in git, with its bases as they are.
type course struct {
	t     *testing.T
	root  string
	tasks []*rubric.Task
}

func small(t *testing.T) course {
	used := &rubric.Task{Name: "8", Dir: "task8_y", Files: []string{"k.cu", "h.cuh"}, Checks: []rubric.Check{{ID: "sum"}}}
	c := course{t, t.TempDir(), []*rubric.Task{used, {Name: "9", Dir: "task9_x", Files: []string{"k.cu"}, Used: []*rubric.Task{used}, Checks: []rubric.Check{{ID: "sum"}}}}}
	c.write("task8_y/solution/k.cu", "first line\nsecond line\n")
	c.write("task8_y/solution/h.cuh", "a header\n")
	c.write("task8_y/solution/_versions/1_old/k.cu", "old line\n")
	c.write("task9_x/solution/k.cu", "one\n")
	for _, base := range []string{"task8_y/2026", "task9_x/2026"} {
		c.write("grader/trial/_bases/"+base+".toml", "")
	}
	c.write("grader/trial/_bases/task8_y/plain.toml", "version = \"1_old\"\n")
	c.mutant("task8_y/first", "2026", "k.cu", "first")
	c.mutant("task8_y/second", "2026", "k.cu", "second")
	c.mutant("task8_y/older", "plain", "k.cu", "old")
	c.mutant("task9_x/of_used", "2026", "task8_y/k.cu", "first")
	c.renewed()
	c.git("init", "-q")
	c.commit()
	return c
}

func (c course) write(name, text string) {
	path := filepath.Join(c.root, name)
	require.NoError(c.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(c.t, os.WriteFile(path, []byte(text), 0o644))
}

func (c course) mutant(name, base, file, find string) {
	c.write("grader/trial/specimens/mutants/"+name+".toml", strings.NewReplacer("BASE", base, "FILE", file, "FIND", find).Replace(mutant))
}

func (c course) git(args ...string) {
	cmd := exec.Command("git", append([]string{"-C", c.root, "-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(c.t, err, string(out))
}

func (c course) commit() {
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "m")
}

// renewed runs the command; then every base is as its hashes say, and every specimen applies.
func (c course) renewed() string {
	var said strings.Builder
	require.NoError(c.t, renew(&said, c.root, c.tasks))
	left, err := moved(c.root, c.tasks)
	require.NoError(c.t, err)
	assert.Empty(c.t, left)
	all, err := trial.Load(c.root, trial.Mutants, c.tasks...)
	require.NoError(c.t, err)
	for _, s := range all {
		_, err := s.Made(c.root)
		assert.NoError(c.t, err)
	}
	return said.String()
}

// made is the first file of a mutant, and the name of its base.
func (c course) made(of int, name string) (text, base string) {
	s, err := trial.Find(c.root, trial.Mutants, c.tasks[of], name)
	require.NoError(c.t, err)
	files, err := s.Made(c.root)
	require.NoError(c.t, err)
	return string(files[0].Data), s.Base
}

func TestWhereAllStillApplyOnlyHashesChange(t *testing.T) {
	c := small(t)
	assert.Contains(t, c.renewed(), "every base is as its hashes say")
	c.write("task8_y/solution/h.cuh", "another header\n") // a version that lacks it has it, too
	said := c.renewed()
	assert.Equal(t, "task8_y/2026: renewed\ntask8_y/plain: renewed\n", said)
	assert.Empty(t, numbered(c.root, 1))
}

func TestWhatNoLongerAppliesKeepsItsText(t *testing.T) {
	c := small(t)
	c.write("task8_y/solution/k.cu", "1st line\nsecond line, longer\n")
	c.commit() // as it was, it is found further back
	said := c.renewed()
	assert.Contains(t, said, `first: edit: "first" occurs 0 times`)
	text, base := c.made(0, "first")
	assert.Equal(t, "other line\nsecond line\n", text)
	assert.Equal(t, "2026_1", base)
	text, base = c.made(0, "second")
	assert.Equal(t, "1st line\nother line, longer\n", text)
	assert.Equal(t, "2026", base)
	text, base = c.made(1, "of_used")
	assert.Equal(t, "one\n", text, "its own task has not moved on")
	assert.Equal(t, "2026_1", base)

	c.commit()
	c.write("task8_y/solution/_versions/1_old/k.cu", "ancient line\n")
	c.write("task8_y/solution/k.cu", "1st line\n2nd line\n")
	c.renewed()
	_, base = c.made(0, "older")
	assert.Equal(t, "plain_2", base)
	_, base = c.made(0, "second")
	assert.Equal(t, "2026_2", base)
	_, base = c.made(0, "first")
	assert.Equal(t, "2026_1", base)
}

func TestNothingIsWrittenWhereOneCannotBeMade(t *testing.T) {
	c := small(t)
	c.write("task8_y/solution/k.cu", "1st line\nsecond line\n")
	c.mutant("task8_y/zero", "2026", "k.cu", "zeroth")
	assert.ErrorContains(t, renew(io.Discard, c.root, c.tasks), "mutants/task8_y/zero.toml fits neither")
	assert.Empty(t, numbered(c.root, 1))
	c.mutant("task8_y/zero", "2026", "k.cu", "second")
	require.NoError(t, os.RemoveAll(filepath.Join(c.root, ".git")))
	c.git("init", "-q")
	c.commit() // what the hashes say is in no commit
	assert.ErrorContains(t, renew(io.Discard, c.root, c.tasks), "no commit has task8_y/solution as")
}
