package record

import (
	"bytes"
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
)

// Folder is where the records are in a batch's folder.
const Folder = "records"

// Name is the path of an attempt's record below the batch's folder.
func Name(student string, attempt int) string {
	return filepath.Join(Folder, Safe(student), fmt.Sprintf("%d.json", attempt))
}

// Safe makes a file name of a student's id, and different ones of different ids. Ids come
// from file names and tables that students may have had a hand in.
func Safe(id string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("-_.@", r):
			return r
		}
		return '_'
	}, id)
	if len(clean) > 80 {
		clean = clean[:80]
	}
	// Upper case is changed too: some file systems do not tell it from lower case.
	if clean == id && strings.ToLower(id) == id && strings.Trim(id, ".-") == id && id != "" {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return strings.Trim(clean, ".-") + "~" + hex.EncodeToString(sum[:4])
}

// Write writes a record into the batch's folder, whole or not at all. Even after a crash
// of the machine there is either the old record or the new one.
func Write(out string, r *Record) error {
	r.Version = Version
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("record of %s: %w", r.Student.ID, err)
	}
	name := filepath.Join(out, Name(r.Student.ID, r.Attempt))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	data = append(data, '\n')
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return Durable(name, data)
}

// Durable writes a file whole, on the disk before it takes the old one's place.
func Durable(name string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(name), TempPrefix+"*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // nothing left to remove once renamed
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), name); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	_ = dir.Sync() // some file systems refuse it
	return nil
}

// TempPrefix begins the names of files that are not complete yet. If there is one at
// the start of a batch, a run was killed.
const TempPrefix = ".part-"

// Read reads one record; fs.ErrNotExist if there is none.
func Read(name string) (*Record, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var version struct{ Version int }
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, fmt.Errorf("%s is no whole record (%w): remove it, and it is graded again", name, err)
	}
	if version.Version != Version {
		return nil, fmt.Errorf("%s has version %d of the format, and this grader reads %d: use the release that wrote it, or another output folder", name, version.Version, Version)
	}
	r := &Record{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// ReadAll reads all records of a batch's folder, sorted by student and attempt.
func ReadAll(out string) ([]*Record, error) {
	var all []*Record
	err := filepath.WalkDir(filepath.Join(out, Folder), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".json" || strings.HasPrefix(e.Name(), ".") {
			return err
		}
		r, err := Read(path)
		if err == nil {
			all = append(all, r)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	slices.SortFunc(all, func(a, b *Record) int {
		if c := strings.Compare(a.Student.ID, b.Student.ID); c != 0 {
			return c
		}
		return a.Attempt - b.Attempt
	})
	return all, err
}
