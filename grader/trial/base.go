package trial

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"flashlab/grader/grading/build"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/cache"
	"flashlab/internal/glob"
)

// Whole is the base that every task has, today's solution: what needs a set of right files takes this one.
const Whole = "2026"

// Base is what specimens of a task are made from: the solution or a version of it, which a file
// _bases/TASK/NAME.toml names; or, where that has moved on, a folder of copies _bases/TASK/NAME.
type Base struct {
	Task    *rubric.Task      `toml:"-"`
	Name    string            `toml:"-"`
	Version string            `toml:"version,omitempty"` // of the solution; without it the solution itself
	SHA256  map[string]string `toml:"sha256"`            // of each file, as it was when somebody last looked; nil for copies
}

// Path is the folder of a base that is copies. The underscore keeps go build away.
func (b Base) Path(root string) string {
	return filepath.Join(root, "grader", "trial", "_bases", b.Task.Dir, b.Name)
}

// Bases are all of a task's.
func Bases(root string, t *rubric.Task) (all []Base, err error) {
	entries, err := glob.In(Base{Task: t}.Path(root), "*")
	for _, entry := range entries {
		b := Base{Task: t, Name: strings.TrimSuffix(filepath.Base(entry), ".toml")}
		if err := b.read(root); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, err
}

// read reads the base's file; of a folder there is nothing to read.
func (b *Base) read(root string) error {
	if _, err := os.Stat(b.Path(root)); err == nil {
		return nil
	}
	file := b.Path(root) + ".toml"
	meta, err := toml.DecodeFile(file, b)
	if unknown := meta.Undecoded(); err == nil && len(unknown) > 0 {
		err = fmt.Errorf("unknown key %q", unknown[0].String())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if b.SHA256 == nil { // new: renew takes them
		b.SHA256 = map[string]string{}
	}
	return nil
}

// Save writes the base's file, with the hashes of its files as they are.
func (b Base) Save(root string) (err error) {
	if b.SHA256, err = b.sums(root); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := toml.NewEncoder(&text).Encode(b); err != nil {
		return err
	}
	return cache.WriteFile(b.Path(root)+".toml", text.Bytes(), 0o644)
}

// Files are the base's, in the words of a student's folder.
func (b Base) Files(root string) (files []gate.File, err error) {
	dir := b.Path(root)
	if b.SHA256 != nil {
		dir = filepath.Join(root, b.Task.Dir, "solution")
	}
	for _, name := range b.Task.Files {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) && slices.Contains(b.Task.Honours, name) {
			continue // as a submission may
		}
		if err != nil {
			return nil, err
		}
		files = append(files, gate.File{Task: b.Task.Dir, Name: name, Path: b.Task.Dir + "/" + name, Data: data})
	}
	if b.Version == "" {
		return files, nil
	}
	files, err = build.Version(root, b.Task, b.Version, files)
	for i, f := range files {
		if !f.Ladder { // messages name it as a student's
			files[i].Path = f.Task + "/" + f.Name
		}
	}
	return files, err
}

func (b Base) sums(root string) (map[string]string, error) {
	files, err := b.Files(root)
	sums := map[string]string{}
	for _, f := range files {
		sums[f.Name] = fmt.Sprintf("%x", sha256.Sum256(f.Data))
	}
	return sums, err
}

// Same tells whether the base's files, read from this tree, are those of its hashes. Copies are.
func (b Base) Same(root string) (bool, error) {
	if b.SHA256 == nil {
		return true, nil
	}
	sums, err := b.sums(root)
	return maps.Equal(sums, b.SHA256), err
}

// ofCopies is the ending of a base that is copies of another: "2026_1".
var ofCopies = regexp.MustCompile(`_\d+$`)

// Bases are the specimen's: one of its task, and one of each task that it uses. A task without one of the name
// that the specimen gives has, for it has not moved on since, the one that this was copied from, or Whole.
func (s Specimen) Bases(root string) (all []Base, err error) {
	named, lacks := false, ""
	for _, one := range s.Task.All() {
		if len(one.Files) == 0 {
			continue
		}
		there, err := Bases(root, one)
		if err != nil {
			return nil, err
		}
		at := -1
		for _, name := range []string{s.Base, ofCopies.ReplaceAllString(s.Base, ""), Whole} {
			if at < 0 {
				at = slices.IndexFunc(there, func(b Base) bool { return b.Name == name })
				named = named || at >= 0 && name == s.Base
			}
		}
		if at < 0 {
			lacks = Base{Task: one, Name: Whole}.Path(root)
			continue
		}
		all = append(all, there[at])
	}
	switch {
	case !named:
		return nil, fmt.Errorf("base: there is no %q in %s", s.Base, filepath.Dir(Base{Task: s.Task, Name: s.Base}.Path(root)))
	case lacks != "":
		return nil, fmt.Errorf("base: there is no %s.toml", lacks)
	}
	return all, nil
}
