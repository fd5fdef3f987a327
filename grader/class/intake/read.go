package intake

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"flashlab/grader/grading/handin"
)

// Bounds on a submission. A packed one of all tasks is about 100 KB.
const (
	maxArchive  = 16 << 20  // bytes of the file: all that is read of it fits into memory
	maxUnpacked = 256 << 20 // bytes of a .tar.gz, which has to be read through
	maxKept     = 64 << 20  // bytes of all files that may be handed in, copies of them included
	maxEntries  = 20000
	maxDepth    = 32
	maxExtra    = 20 // extra files that are named
)

// Content is what a submission holds of what may be handed in.
type Content struct {
	Files   map[string][]byte // by their names in the tree: "task2_unfused/kernels.cu"
	Receipt handin.Receipt
	Results []byte   // Results.md, where students answer questions; nil without one
	Board   []byte   // leaderboard.txt; nil without one
	Regrade []byte   // regrade.toml; nil without one
	Extra   []string // other files, the first of them
	Notes   []string // what was odd, in words for the student
}

// Trouble is why a submission cannot be read, in words for its author.
type Trouble struct{ Text string }

func (t *Trouble) Error() string { return t.Text }

func trouble(format string, args ...any) error { return &Trouble{fmt.Sprintf(format, args...)} }

// entry is a file in a submission. Files that are not wanted have no data.
type entry struct {
	name string // clean, with slashes
	data []byte
	what string // why it cannot be used: "is a symbolic link"; "" if it can
}

// Read reads the files that are wanted from a folder or an archive. What is wrong with
// the submission is a *Trouble; other errors are this machine's.
func Read(name string, wanted Wanted) (Content, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return Content{}, err
	}
	t := &taking{wanted: wanted}
	switch {
	case info.IsDir():
		if inner := onlyArchive(name); inner != "" {
			return Read(inner, wanted)
		}
		err = t.folder(name)
	case !info.Mode().IsRegular():
		err = trouble("it is neither a folder nor a file")
	case info.Size() > maxArchive:
		err = trouble("it has %d MB; at most %d are read: hand in the zip that `make pack` writes", info.Size()>>20, maxArchive>>20)
	default:
		err = t.archive(name)
	}
	if err != nil {
		return Content{}, err
	}
	return choose(t.entries, wanted)
}

// onlyArchive is the archive in a folder that holds nothing else, as an export leaves an upload; ""
// if there is none.
func onlyArchive(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return ignored(e.Name()) })
	if len(entries) != 1 || !entries[0].Type().IsRegular() || archive(entries[0].Name()) == "" {
		return ""
	}
	return filepath.Join(dir, entries[0].Name())
}

// taking collects the entries of a submission, within the bounds.
type taking struct {
	wanted  Wanted
	entries []entry
	kept    int
}

// add takes one file. what says why it cannot be used, or is "" if it can. Its text is
// read only if it may be handed in.
func (t *taking) add(name, what string, open func() (io.ReadCloser, error)) error {
	switch {
	case len(t.entries) >= maxEntries:
		return trouble("it holds more than %d files: hand in the zip that `make pack` writes", maxEntries)
	case strings.Count(name, "/") > maxDepth:
		return trouble("its folders are more than %d deep", maxDepth)
	}
	e := entry{name: name, what: what}
	if base := path.Base(name); what == "" && (len(t.wanted.named(base)) > 0 || slices.Contains(besides, base)) {
		r, err := open()
		if err == nil {
			e.data, err = io.ReadAll(io.LimitReader(r, handin.MaxFile))
			r.Close()
		}
		if err != nil {
			return trouble("%s in it cannot be read (%v): pack it again", name, err)
		}
		if t.kept += len(e.data); t.kept > maxKept {
			return trouble("the files that count have more than %d MB", maxKept>>20)
		}
	}
	t.entries = append(t.entries, e)
	return nil
}

// match is the permitted name that a path ends in; "" if there is none.
func match(file string, permitted []string) string {
	for _, p := range permitted {
		if file == p || strings.HasSuffix(file, "/"+p) {
			return p
		}
	}
	return ""
}

// what says why a file of this kind cannot be used; "" if it can.
func what(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "is a symbolic link"
	case !mode.IsRegular():
		return "is no regular file"
	}
	return ""
}

func (t *taking) folder(dir string) error {
	root, err := os.OpenRoot(dir) // no link in it leads out of it
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return trouble("%s cannot be read: %v", name, err)
		case d.IsDir() && ignored(d.Name()) && name != ".":
			return fs.SkipDir
		case d.IsDir() || ignored(d.Name()):
			return nil
		}
		return t.add(name, what(d.Type()), func() (io.ReadCloser, error) {
			return root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
		})
	})
}

// clean makes an archive's name a path below its root. One that leads out of it is
// refused, not repaired: nobody makes such an archive by accident.
func clean(name string) (string, error) {
	name = strings.ReplaceAll(name, `\`, "/")
	if path.IsAbs(name) || slices.Contains(strings.Split(name, "/"), "..") || strings.ContainsRune(name, 0) {
		return "", trouble("it holds a file named %q, which leads out of the archive", name)
	}
	return path.Clean(name), nil
}

func (t *taking) archive(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	switch {
	case len(data) == 0:
		return trouble("it is empty: the upload may have been interrupted")
	case bytes.HasPrefix(data, []byte("PK")):
		return t.zip(data)
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return trouble("it is a broken gzip file (%v): pack it again", err)
		}
		return t.tar(z)
	case len(data) > 262 && string(data[257:262]) == "ustar":
		return t.tar(bytes.NewReader(data))
	case foreign[strings.ToLower(filepath.Ext(name))]:
		return trouble("it is a %s file: hand in the zip that `make pack` writes", filepath.Ext(name))
	}
	return trouble("it is neither a zip nor a tar file: the upload may have been interrupted")
}

func (t *taking) zip(data []byte) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return trouble("it is a broken zip file (%v): pack it again", err)
	}
	for _, f := range z.File {
		name, err := clean(f.Name)
		switch {
		case err != nil:
			return err
		case f.Mode().IsDir():
			continue
		case f.Flags&1 != 0:
			return trouble("it is encrypted: pack it without a password")
		}
		if err := t.add(name, what(f.Mode()), f.Open); err != nil {
			return err
		}
	}
	return nil
}

func (t *taking) tar(r io.Reader) error {
	limited := &io.LimitedReader{R: r, N: maxUnpacked}
	in := tar.NewReader(limited)
	for {
		h, err := in.Next()
		switch {
		case limited.N <= 0:
			return trouble("unpacked it has more than %d MB: hand in the zip that `make pack` writes", maxUnpacked>>20)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return trouble("it is a broken tar file (%v): pack it again", err)
		}
		name, err := clean(h.Name)
		if err != nil {
			return err
		}
		mode := what(h.FileInfo().Mode())
		switch h.Typeflag {
		case tar.TypeDir, tar.TypeXGlobalHeader:
			continue
		case tar.TypeLink:
			mode = "is a link"
		}
		if err := t.add(name, mode, func() (io.ReadCloser, error) { return io.NopCloser(in), nil }); err != nil {
			return err
		}
	}
}
