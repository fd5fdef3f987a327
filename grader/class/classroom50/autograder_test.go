package classroom50

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fake is a course's Makefile whose grader says how it was called, and gives these results.
const fake = "grader:\n\t@mkdir -p out/bin && cp fake out/bin/grader && chmod +x out/bin/grader\n"

const results = `{"score": 2.51, "output": "Task 2 was ~~~~ refused", "tests": [
 {"name": "Task 2, Softmax | rows: correctness", "status": "passed", "score": 1.5, "max_score": 1.5},
 {"name": "Task 2, Softmax: traffic", "status": "failed", "score": 1.01, "max_score": 1.2},
 {"name": "Task 2, Products: safety", "status": "failed", "score": 0, "max_score": 0.3}]}`

func script(code int) string {
	return "#!/bin/sh\necho \"$@\" > called\nenv > environment\nfor a; do case \"$a\" in OUT=*) mkdir -p \"${a#OUT=}\"; cat > \"${a#OUT=}/results.json\" <<'END'\n" + results + "\nEND\n;; esac; done\nexit " + fmt.Sprint(code) + "\n"
}

// run grades a checkout as the runner does, and says what came of it.
func run(t *testing.T, checkout string, more ...string) (printed string, failed bool) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 here")
	}
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("there is no make here")
	}
	here, err := filepath.Abs("autograder.py")
	require.NoError(t, err)
	c := exec.Command(python, here)
	c.Dir = checkout
	c.Env = append(os.Environ(), "CLASSROOM=fall", "ASSIGNMENT=lab-task2", "OWNER=ada", "SUBMISSION_TAG=submit/2026-12-01T00-00-00Z-ab12cd3", "COMMIT_URL=https://x/commit/1", "RELEASE_URL=https://x/releases/1",
		"GITHUB_TOKEN=secret", "ACTIONS_RUNTIME_TOKEN=secret")
	c.Env = append(c.Env, more...)
	out, err := c.CombinedOutput()
	return string(out), err != nil
}

func course(t *testing.T, code int) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Makefile"), []byte(fake), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fake"), []byte(script(code)), 0o644))
	return dir
}

func TestTheResultIsAsTheRunnerWantsIt(t *testing.T) {
	dir := course(t, 1)
	printed, failed := run(t, dir)
	require.False(t, failed, printed)
	data, err := os.ReadFile(filepath.Join(dir, "result.json"))
	require.NoError(t, err)
	var r struct {
		Schema, Classroom, Assignment, Owner, Submission, Commit, Release, Review, Datetime string
		Type                                                                                string `json:"assignment_type"`
		Score                                                                               int
		Max                                                                                 int `json:"max-score"`
		Tests                                                                               []struct {
			Name   string `json:"test-name"`
			Passed *bool
			Score  int
			Max    int `json:"max-score"`
		}
	}
	require.NoError(t, json.Unmarshal(data, &r), "whole numbers, or it is no result")
	assert.Equal(t, []string{"classroom50/result/v1", "fall", "lab-task2", "ada", "individual"}, []string{r.Schema, r.Classroom, r.Assignment, r.Owner, r.Type})
	for _, text := range []string{r.Submission, r.Commit, r.Release, r.Review, r.Datetime} {
		assert.NotEmpty(t, text)
	}
	assert.True(t, strings.HasPrefix(r.Submission, "submit/"))
	assert.Equal(t, []int{251, 300}, []int{r.Score, r.Max})
	require.Len(t, r.Tests, 3)
	for _, one := range r.Tests {
		assert.NotEmpty(t, one.Name)
		require.NotNil(t, one.Passed)
		assert.LessOrEqual(t, one.Score, one.Max)
	}
	called, err := os.ReadFile(filepath.Join(dir, "called"))
	require.NoError(t, err)
	assert.Contains(t, string(called), "TASK=2")
	assert.NotContains(t, string(called), "SUBMISSION=")
	seen, err := os.ReadFile(filepath.Join(dir, "environment"))
	require.NoError(t, err)
	assert.NotContains(t, string(seen), "secret", "a submission sees none of the runner's tokens")
	body, err := os.ReadFile(filepath.Join(dir, "release-body.md"))
	require.NoError(t, err)
	assert.Contains(t, string(body), "### 2.51 of 3 points")
	assert.Contains(t, string(body), "| Task 2, Softmax / rows: correctness | 1.5 of 1.5 |")
	assert.Equal(t, 2, strings.Count(string(body), "~~~~"), "what it prints ends no block of ours")
}

func TestAReleaseInTheBundleGrades(t *testing.T) {
	bundle, checkout := t.TempDir(), t.TempDir()
	f, err := os.Create(filepath.Join(bundle, "flashlab-2027.1-0123456789.zip"))
	require.NoError(t, err)
	z := zip.NewWriter(f)
	for name, text := range map[string]string{"flashlab-2027.1/Makefile": fake, "flashlab-2027.1/fake": strings.Replace(script(0), "> called", "> \"$HOME/called\"", 1)} {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	home := t.TempDir()
	printed, failed := run(t, checkout, "CLASSROOM50_BUNDLE_DIR="+bundle, "HOME="+home, "ASSIGNMENT=everything")
	require.False(t, failed, printed)
	assert.Contains(t, printed, "2.51 of 3 points, by flashlab-2027.1-0123456789.zip")
	called, err := os.ReadFile(filepath.Join(home, "called"))
	require.NoError(t, err)
	assert.Contains(t, string(called), "SUBMISSION="+checkout)
	assert.NotContains(t, string(called), "TASK=")
}

func TestAGraderThatFailsLeavesNoResult(t *testing.T) {
	dir := course(t, 2)
	printed, failed := run(t, dir)
	assert.True(t, failed, "the runner then says that it is an error, and no zero")
	assert.Contains(t, printed, "the grader ended with code 2")
	assert.NoFileExists(t, filepath.Join(dir, "result.json"))
}
