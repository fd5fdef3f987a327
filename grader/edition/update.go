package edition

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Updated says what an update did.
type Updated struct {
	From, To  string
	Written   []string // course files that are new or different
	Removed   []string // that the newer release no longer has
	Changed   []string // of both: those that differed from what had been handed out
	Stubs     []string // your files whose stub has changed; the new stubs are in StubsDir
	Recovered bool     // an earlier update had been interrupted, and was undone first
}

// Where an update works, in the tree's out/.
const (
	updateDir = "out/update"
	BeforeDir = updateDir + "/before" // what was replaced or removed
	StubsDir  = updateDir + "/stubs"
)

// Open opens a release to update from: a folder, or a zip of one. close it after
// use.
func Open(name string) (tree fs.FS, close func() error, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	close = func() error { return nil }
	if info.IsDir() {
		tree = os.DirFS(name)
	} else {
		z, err := zip.OpenReader(name)
		if err != nil {
			return nil, nil, fmt.Errorf("%s is neither a folder nor a zip file: %w", name, err)
		}
		tree, close = z, z.Close
	}
	found, err := fs.Glob(tree, "*/"+ManifestName)
	if _, here := fs.Stat(tree, ManifestName); here == nil {
		return tree, close, nil
	}
	if err != nil || len(found) != 1 {
		_ = close()
		return nil, nil, fmt.Errorf("%s is no release: there is no %s in it", name, ManifestName)
	}
	tree, err = fs.Sub(tree, path.Dir(found[0]))
	return tree, close, err
}

// Update takes over a newer release: the course's files are replaced, the student's
// are not touched. It does all of it or nothing, and if it is killed midway, the
// next one begins by undoing it. older allows an older release.
func Update(root string, newer fs.FS, older bool) (u Updated, err error) {
	if u.Recovered, err = recoverUpdate(root); err != nil {
		return u, err
	}
	have, err := Load(os.DirFS(root))
	if errors.Is(err, fs.ErrNotExist) {
		return u, fmt.Errorf("%s is no release, so there is nothing to update: %s is missing (a clone of the course is updated by git)", root, ManifestName)
	}
	if err != nil {
		return u, err
	}
	want, err := Load(newer)
	if err != nil {
		return u, fmt.Errorf("the newer release: %w", err)
	}
	u.From, u.To = have.Name, want.Name
	if want.Date.Before(have.Date) && !older {
		return u, fmt.Errorf("%s is older than %s, which is here: FORCE=1 takes it all the same", want.Name, have.Name)
	}
	contents, err := want.read(newer)
	if err != nil {
		return u, err
	}
	c := change{root: root, contents: contents}
	if err := c.plan(have, want, &u); err != nil {
		return u, err
	}
	return u, c.apply()
}

// read reads a release, and compares it with its list: a damaged one changes
// nothing.
func (m *Manifest) read(tree fs.FS) (map[string][]byte, error) {
	contents := map[string][]byte{}
	for i, list := range []map[string]string{m.Files, m.Stubs} {
		for name, want := range list {
			top, _, _ := strings.Cut(name, "/")
			answers := i == 0 && name == "Results.md" // it may only be a student's own
			if !fs.ValidPath(name) || slices.Contains([]string{".", "out", ".git"}, top) || answers {
				return nil, fmt.Errorf("the newer release lists %q, which is no file of a course", name)
			}
			data, err := fs.ReadFile(tree, name)
			if err != nil {
				return nil, fmt.Errorf("the newer release is not whole: %w", err)
			}
			if Sum(data) != want {
				return nil, fmt.Errorf("the newer release is damaged or was edited: %s is not what its list says; get it again", name)
			}
			contents[name] = data
		}
	}
	data, err := fs.ReadFile(tree, ManifestName)
	contents[ManifestName] = data
	return contents, err
}

// plan decides file by file.
func (c *change) plan(have, want *Manifest, u *Updated) error {
	for _, name := range have.Yours {
		if _, taken := want.Files[name]; taken {
			return fmt.Errorf("%s is yours, and %s makes it the course's: move your file elsewhere and out of %s's list first; nothing was changed", name, want.Name, ManifestName)
		}
	}
	for _, name := range Sorted(want.Files) {
		data, err := os.ReadFile(filepath.Join(c.root, name))
		if err == nil && Sum(data) == want.Files[name] {
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil && Sum(data) != have.Files[name] {
			u.Changed = append(u.Changed, name)
		}
		u.Written = append(u.Written, name)
		c.steps = append(c.steps, step{Name: name, Had: err == nil, Put: true})
	}
	for _, name := range Sorted(have.Files) {
		_, stays := want.Files[name]
		if stays || slices.Contains(want.Yours, name) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(c.root, name))
		if err != nil {
			continue // it is gone already
		}
		if Sum(data) != have.Files[name] {
			u.Changed = append(u.Changed, name)
		}
		u.Removed = append(u.Removed, name)
		c.steps = append(c.steps, step{Name: name, Had: true})
	}
	for _, name := range want.Yours {
		_, err := os.Lstat(filepath.Join(c.root, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			u.Written = append(u.Written, name)
			c.steps = append(c.steps, step{Name: name, Put: true})
		case err != nil:
			return err
		case want.Stubs[name] != have.Stubs[name]:
			u.Stubs = append(u.Stubs, name)
			c.stubs = append(c.stubs, name)
		}
	}
	c.steps = append(c.steps, step{Name: ManifestName, Had: true, Put: true})
	return nil
}
