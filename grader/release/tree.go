// Package release makes the tree that students get. Solutions, hidden cases, mutants
// and everything else that belongs to the instructor stay behind; the tree is searched
// for them before anyone sees it.
package release

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"flashlab/grader/edition"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

// Tree is a release before it is written.
type Tree struct {
	edition.Manifest
	Contents map[string][]byte
	Scripts  map[string]bool // files that may be executed
	Dirty    bool            // the working tree holds more than the commit
}

var versionForm = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._]*$`)

// Make makes the students' tree from the last commit of the course in root. What
// is not committed is not in it, so that a name means the same bytes everywhere.
// Without a version it is named after the commit's date. In a year with a variant the tree is that of the variant, and
// its version ends with the variant's name.
func Make(ctx context.Context, root, version string, year Year) (*Tree, error) {
	variant := year.Variant
	tasks, err := rubric.LoadVariant(root, variant)
	if err != nil {
		return nil, err
	}
	if tasks, err = rubric.WithWarmUp(root, tasks); err != nil {
		return nil, err
	}
	t, course, err := lastCommit(ctx, root, version, variant)
	if err != nil {
		return nil, err
	}
	if course, err = vary(course, variant); err != nil {
		return nil, err
	}
	if err := t.pick(course); err != nil {
		return nil, err
	}
	year.tell(t)
	if variant != "" {
		if err := t.blank(root, tasks); err != nil {
			return nil, err
		}
	}
	return t, t.list(tasks)
}

// Year is what a course asks for in place of the plain one's.
type Year struct {
	Variant string
	Agents  *string // what AI assistants of students are told; the course's page without it, and no page if it is empty
}

// agents is the page that assistants look for.
const agents = "AGENTS.md"

func (y Year) tell(t *Tree) {
	switch {
	case y.Agents == nil:
	case *y.Agents == "":
		delete(t.Contents, agents)
	default:
		t.Contents[agents] = []byte(*y.Agents)
	}
}

// lastCommit names a tree after the course's last commit, and reads all of that.
func lastCommit(ctx context.Context, root, version, variant string) (*Tree, map[string][]byte, error) {
	if _, err := os.Stat(filepath.Join(root, edition.ManifestName)); err == nil {
		return nil, nil, errors.New("this tree is itself a release: make one from the course's repository")
	}
	head, err := git(ctx, root, "show", "-s", "--format=%H %ct", "HEAD")
	if err != nil {
		return nil, nil, fmt.Errorf("the course must be a git repository with a commit: %w", err)
	}
	t := &Tree{}
	var seconds int64
	if _, err := fmt.Sscan(string(head), &t.Commit, &seconds); err != nil {
		return nil, nil, fmt.Errorf("git show: %w", err)
	}
	t.Date = time.Unix(seconds, 0).UTC()
	if t.Version = version; version == "" {
		t.Version = t.Date.Format("2006.01.02")
	}
	if variant != "" {
		t.Version += "." + variant
	}
	if !versionForm.MatchString(t.Version) {
		return nil, nil, fmt.Errorf("version %q: want letters, digits, dots and underscores, like 2027.1", version)
	}
	t.Name = t.Version + "-" + t.Commit[:10]
	changes, err := git(ctx, root, "status", "--porcelain")
	if err != nil {
		return nil, nil, err
	}
	t.Dirty = len(changes) > 0
	archive, err := git(ctx, root, "-c", "core.autocrlf=false", "archive", "--format=tar", "HEAD")
	if err != nil {
		return nil, nil, err
	}
	course, scripts, err := untar(archive)
	if err != nil {
		return nil, nil, err
	}
	t.Scripts = scripts
	return t, course, nil
}

func git(ctx context.Context, root string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...)
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(words.String()))
	}
	return out.Bytes(), nil
}

func untar(archive []byte) (files map[string][]byte, scripts map[string]bool, err error) {
	files, scripts = map[string][]byte{}, map[string]bool{}
	r := tar.NewReader(bytes.NewReader(archive))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return files, scripts, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("git archive: %w", err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, nil, fmt.Errorf("git archive: %w", err)
		}
		files[h.Name] = data
		scripts[h.Name] = h.Mode&0o100 != 0
	}
}

// pick picks the contents, and searches them for anything that must not be released.
func (t *Tree) pick(course map[string][]byte) error {
	t.Contents = map[string][]byte{}
	for name, data := range course {
		if !goes(name) {
			continue
		}
		if ofATask(name) && strings.HasSuffix(name, "/rubric.toml") {
			shown, err := withoutHidden(name, data)
			if err != nil {
				return err
			}
			data = withoutLadders(shown)
		}
		t.Contents[name] = data
	}
	for name, data := range course {
		if own, ok := strings.CutPrefix(name, replaced); ok {
			text, err := withSections(own, data, course["README.md"])
			if err != nil {
				return err
			}
			t.Contents[own] = text
		}
	}
	for _, task := range registry.All {
		if _, ok := t.Contents[task.Dir+"/rubric.toml"]; ok {
			t.Contents[task.Dir+"/Makefile"] = fromFolder(task)
		}
	}
	if leaks := Leaks(course, t.Contents); len(leaks) > 0 {
		return fmt.Errorf("students would see what they must not; nothing was written:\n%s", strings.Join(leaks, "\n"))
	}
	return nil
}

// list writes down what is in it, and whose.
func (t *Tree) list(tasks []*rubric.Task) error {
	t.Files, t.Stubs = map[string]string{}, map[string]string{}
	for _, name := range append(handin.Names(tasks), report.ResultsName) {
		data, ok := t.Contents[name]
		if !ok {
			return fmt.Errorf("%s is a student's file, and the commit lacks it", name)
		}
		t.Yours = append(t.Yours, name)
		t.Stubs[name] = edition.Sum(data)
	}
	for name, data := range t.Contents {
		if _, yours := t.Stubs[name]; !yours {
			t.Files[name] = edition.Sum(data)
		}
	}
	manifest, err := json.MarshalIndent(t.Manifest, "", "  ")
	if err != nil {
		return err
	}
	t.Contents[edition.ManifestName] = append(manifest, '\n')
	return nil
}

var sectionMark = regexp.MustCompile(`(?m)^<!-- section: (.+) -->$`)

// withSections puts sections of the course's README.md where the students' own
// names them, so that they are written once.
func withSections(name string, text, readme []byte) ([]byte, error) {
	var err error
	filled := sectionMark.ReplaceAllFunc(text, func(mark []byte) []byte {
		title := string(sectionMark.FindSubmatch(mark)[1])
		_, from, ok := strings.Cut("\n"+string(readme), "\n## "+title+"\n")
		if !ok {
			err = fmt.Errorf("%s%s wants the section %q of README.md, which has none", replaced, name, title)
			return nil
		}
		body, _, _ := strings.Cut(from, "\n## ")
		return []byte("## " + title + "\n" + strings.TrimRight(body, "\n"))
	})
	return filled, err
}
