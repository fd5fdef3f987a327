package edition

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"flashlab/internal/cache"
)

// change is an update under way. Everything new is first written to out/update;
// then each file changes by two renames. The journal names the steps from before
// the first of them until after the last, so that a broken update can be undone.
type change struct {
	root     string
	contents map[string][]byte
	steps    []step
	stubs    []string

	after func(renames int) error // tests break the update off here
}

// step changes one file.
type step struct {
	Name string
	Had  bool // the file was there, and is kept in BeforeDir
	Put  bool // there is a new one
}

const (
	stageDir = updateDir + "/new"
	journal  = updateDir + "/journal.json"
)

func (c *change) path(parts ...string) string {
	return filepath.Join(append([]string{c.root}, parts...)...)
}

func (c *change) apply() error {
	if err := os.RemoveAll(c.path(updateDir)); err != nil {
		return err
	}
	for _, s := range c.steps {
		if s.Put {
			if err := put(c.path(stageDir, s.Name), c.contents[s.Name]); err != nil {
				return fmt.Errorf("%w; nothing was changed", err)
			}
		}
	}
	for _, name := range c.stubs {
		if err := put(c.path(StubsDir, name), c.contents[name]); err != nil {
			return fmt.Errorf("%w; nothing was changed", err)
		}
	}
	text, err := json.Marshal(c.steps)
	if err != nil {
		return err
	}
	if err := cache.WriteFile(c.path(journal), text, 0o644); err != nil {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	if err := c.rename(); err != nil {
		if errors.Is(err, errKilled) {
			return err
		}
		if _, undo := recoverUpdate(c.root); undo != nil {
			return fmt.Errorf("%w; undoing it failed too: %w; make update once more tries again", err, undo)
		}
		return fmt.Errorf("%w; everything is as it was before", err)
	}
	if err := os.Remove(c.path(journal)); err != nil { // from here on it is done
		return err
	}
	_ = os.RemoveAll(c.path(stageDir))
	for _, s := range c.steps {
		if !s.Put {
			removeEmpty(c.root, s.Name)
		}
	}
	return nil
}

var errKilled = errors.New("killed by a test")

func (c *change) rename() error {
	renames := 0
	move := func(from, to string) error {
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.Rename(from, to); err != nil {
			return err
		}
		renames++
		if c.after != nil {
			return c.after(renames)
		}
		return nil
	}
	for _, s := range c.steps {
		if s.Had {
			if err := move(c.path(s.Name), c.path(BeforeDir, s.Name)); err != nil {
				return err
			}
		}
		if s.Put {
			if err := move(c.path(stageDir, s.Name), c.path(s.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// recoverUpdate undoes an update that was interrupted; it may itself be interrupted
// and done again.
func recoverUpdate(root string) (bool, error) {
	c := change{root: root}
	text, err := os.ReadFile(c.path(journal))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &c.steps)
	}
	if err != nil {
		return false, fmt.Errorf("an earlier update was interrupted, and %s cannot be read: %w", journal, err)
	}
	for i := len(c.steps) - 1; i >= 0; i-- {
		s := c.steps[i]
		kept := c.path(BeforeDir, s.Name)
		_, err := os.Lstat(kept)
		switch {
		case err == nil:
			err = os.Rename(kept, c.path(s.Name))
		case !s.Had:
			if err = os.Remove(c.path(s.Name)); err == nil || errors.Is(err, fs.ErrNotExist) {
				err = nil
				removeEmpty(root, s.Name)
			}
		case errors.Is(err, fs.ErrNotExist):
			err = nil // it had not been touched yet
		}
		if err != nil {
			return false, fmt.Errorf("undo an update that was interrupted: %w", err)
		}
	}
	return true, os.Remove(c.path(journal))
}

// removeEmpty removes the folders that a file's removal left empty.
func removeEmpty(root, name string) {
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if os.Remove(filepath.Join(root, dir)) != nil {
			return
		}
	}
}

// put writes a new file with its folders. Scripts may be executed.
func put(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(string(data), "#!") {
		mode = 0o755
	}
	return os.WriteFile(name, data, mode)
}
