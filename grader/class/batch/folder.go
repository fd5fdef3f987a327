package batch

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"flashlab/grader/class/record"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
)

// work is where a running batch puts its temporary files.
const work = ".work"

// Lock keeps two batches out of one folder. The system releases it when we end,
// however that happens.
func Lock(out string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(out, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("another batch is at work in %s: wait for it, end it, or give another -o", out)
	}
	return f, nil
}

// sweep removes what a killed batch left unfinished.
func sweep(out string) error {
	if err := os.RemoveAll(filepath.Join(out, work)); err != nil {
		return err
	}
	return filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasPrefix(d.Name(), record.TempPrefix) {
			return os.Remove(path)
		}
		return err
	})
}

// Settings are what a batch's folder remembers, for later runs and for `grader gradebook`.
type Settings struct {
	Version int
	Seed    string // the class seed, where course.toml has none
	Course  string // path of course.toml; "" without one
	Roster  string
	Canvas  string
	// Submissions is where the class's submissions are: what is compared with each other is
	// read there again.
	Submissions string
	Past        []string // folders of earlier years, to compare with
	Sandbox     Sandbox  // of the last batch on this machine
}

// Sandbox is what students' code ran in.
type Sandbox struct {
	Name    string   // "bubblewrap 0.8.0"
	NotHeld []string // what it lets through, in sentences for the instructor's report
}

const settingsName = "batch.json"

// LoadSettings reads them; a new folder gets its own seed.
func LoadSettings(out string) (Settings, error) {
	s := Settings{Version: 1}
	data, err := os.ReadFile(filepath.Join(out, settingsName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.Seed = rand.Text()
		return s, nil
	case err != nil:
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%s: %w", filepath.Join(out, settingsName), err)
	}
	if s.Version != 1 {
		return s, fmt.Errorf("%s has version %d, and this grader reads 1: use another folder", filepath.Join(out, settingsName), s.Version)
	}
	return s, nil
}

// Save writes them.
func (s Settings) Save(out string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return record.Durable(filepath.Join(out, settingsName), append(data, '\n'))
}

// Fingerprint is the hash of everything in the tree that a measurement may depend on: the
// sources and the rubrics, without tests and the files that submissions bring themselves.
func Fingerprint(root string, tasks []*rubric.Task) (string, error) {
	own := handin.Names(tasks)
	h := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"out", "testdata", "solution", "docs"}, d.Name())) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || !slices.Contains([]string{".go", ".cu", ".cpp", ".h", ".c", ".toml", ".mod"}, filepath.Ext(name)) ||
			strings.HasSuffix(name, "_test.go") || slices.Contains(own, filepath.ToSlash(name)) {
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil {
			fmt.Fprintf(h, "%s\x00%d\x00", name, len(data))
			h.Write(data)
		}
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
