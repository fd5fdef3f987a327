package batch

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"flashlab/grader/class/record"
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
	Moodle  string `json:",omitempty"`
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
