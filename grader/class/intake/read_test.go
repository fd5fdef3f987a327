package intake

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/record"
)

var permitted = Wanted{Names: []string{"task1_reference/attention.go", "task2_unfused/attention.go", "task2_unfused/kernels.cu", "task4_flash/attention.go", "task4_flash/kernels.cu", "task9_x/only.cu", "task9_x/tile.cuh"},
	Packages: map[string]string{"task1_reference": "reference", "task2_unfused": "unfused", "task4_flash": "flash", "task9_x": "x"}}

// file is an entry of an archive that a test makes; order and repeats are kept.
type file struct {
	name, text string
	mode       os.FileMode
}

func zipOf(t *testing.T, files ...file) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(0o644 | f.mode)
		in, err := w.CreateHeader(h)
		require.NoError(t, err)
		_, err = io.WriteString(in, f.text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func tarOf(t *testing.T, files ...file) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.text)), Typeflag: tar.TypeReg}
		if f.mode&os.ModeSymlink != 0 {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, f.text, 0
		}
		require.NoError(t, w.WriteHeader(h))
		if h.Size > 0 {
			_, err := io.WriteString(w, f.text)
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func gzipped(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func saved(t *testing.T, name string, data []byte) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, data, 0o644))
	return path
}

var honest = []file{{name: "task1_reference/attention.go", text: "one"}, {name: "task2_unfused/kernels.cu", text: "two"}, {name: "notes.txt", text: "x"}}

func under(top string) (files []file) {
	for _, f := range honest {
		f.name = top + f.name
		files = append(files, f)
	}
	return files
}

func TestOneSubmissionInManyPackings(t *testing.T) {
	dir := t.TempDir()
	for _, f := range honest {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, f.name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, f.name), []byte(f.text), 0o644))
	}
	want, err := Read(dir, permitted)
	require.NoError(t, err)
	assert.Equal(t, map[string][]byte{"task1_reference/attention.go": []byte("one"), "task2_unfused/kernels.cu": []byte("two")}, want.Files)
	assert.Equal(t, []string{"notes.txt"}, want.Extra)
	for name, data := range map[string][]byte{
		"a.zip":      zipOf(t, honest...),
		"b.zip":      zipOf(t, under("my work/")...),
		"c.tar":      tarOf(t, honest...),
		"d.tar.gz":   gzipped(t, tarOf(t, under("./deep/er/")...)),
		"wrong.zip":  gzipped(t, tarOf(t, honest...)), // the content decides
		"macos.zip":  zipOf(t, append(under("work/"), file{name: "__MACOSX/work/task1_reference/._attention.go", text: "?"})...),
		"win.zip":    zipOf(t, file{name: `task1_reference\attention.go`, text: "one"}, file{name: `task2_unfused\kernels.cu`, text: "two"}, file{name: "notes.txt"}),
		"backup.zip": zipOf(t, append(under(""), file{name: "old/task1_reference/attention.go", text: "older"})...),
	} {
		got, err := Read(saved(t, name, data), permitted)
		require.NoError(t, err, name)
		assert.Equal(t, want.Receipt, got.Receipt, name)
		assert.NotEmpty(t, got.Extra, name)
	}
}

func TestAFolderAroundAnArchive(t *testing.T) {
	path := saved(t, "work.zip", zipOf(t, honest...))
	c, err := Read(filepath.Dir(path), permitted)
	require.NoError(t, err)
	assert.Len(t, c.Files, 2)
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	huge := make([]byte, maxArchive+1)
	bomb := zipOf(t, file{name: "task1_reference/attention.go", text: strings.Repeat("x", 100<<20)})
	var copies []file
	for i := range 40 {
		copies = append(copies, file{name: fmt.Sprintf("%d/task1_reference/attention.go", i), text: strings.Repeat("x", 4<<20)})
	}
	many := make([]file, maxEntries+1)
	for i := range many {
		many[i].name = fmt.Sprintf("f%d", i)
	}
	broken := zipOf(t, honest...)
	encrypted := zipOf(t, honest...)
	central := bytes.Index(encrypted, []byte("PK\x01\x02"))
	encrypted[central+8] |= 1
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty.zip":     {nil, "it is empty"},
		"noise.zip":     {[]byte("this is no archive at all"), "neither a zip nor a tar"},
		"work.rar":      {[]byte("Rar!\x1a\x07\x01\x00 and more"), "it is a .rar file: hand in the zip"},
		"cut.zip":       {broken[:len(broken)/2], "a broken zip"},
		"cut.tar.gz":    {gzipped(t, tarOf(t, honest...))[:60], "broken tar file"},
		"huge.zip":      {huge, "it has 16 MB; at most 16 are read"},
		"bomb.tar.gz":   {gzipped(t, tarOf(t, file{name: "a", text: strings.Repeat("x", maxUnpacked)})), "unpacked it has more than 256 MB"},
		"copies.zip":    {zipOf(t, copies...), "more than 64 MB"},
		"many.zip":      {zipOf(t, many...), "more than 20000 files"},
		"deep.zip":      {zipOf(t, file{name: strings.Repeat("d/", 40) + "x"}), "more than 32 deep"},
		"slip.zip":      {zipOf(t, append(honest, file{name: "../../etc/cron.d/x"})...), "leads out of the archive"},
		"absolute.tar":  {tarOf(t, file{name: "/etc/passwd"}), "leads out of the archive"},
		"link.zip":      {zipOf(t, file{"task1_reference/attention.go", "/etc/passwd", os.ModeSymlink}), "attention.go is a symbolic link"},
		"link.tar":      {tarOf(t, file{"task1_reference/attention.go", "/etc/passwd", os.ModeSymlink}), "attention.go is a symbolic link"},
		"twice.zip":     {zipOf(t, honest[0], honest[0]), "is in it twice"},
		"two.zip":       {zipOf(t, append(under("a/"), under("b/")...)...), `twice, in "a/" and in "b/"`},
		"other.zip":     {zipOf(t, file{name: "essay.txt"}), "none of the course's files"},
		"nothing.zip":   {zipOf(t), "no file in it"},
		"encrypted.zip": {encrypted, "encrypted"},
	} {
		_, err := Read(saved(t, name, c.data), permitted)
		var trouble *Trouble
		if assert.ErrorAs(t, err, &trouble, name) {
			assert.Contains(t, trouble.Text, c.want, name)
		}
	}
	// A bomb costs what is read of it: the file is cut, and the gate refuses its size.
	c, err := Read(saved(t, "bomb.zip", bomb), permitted)
	require.NoError(t, err)
	assert.Len(t, c.Files["task1_reference/attention.go"], 4<<20)
}

func TestAFolderIsNotLeft(t *testing.T) {
	secret := saved(t, "secret", []byte("host"))
	for _, make := range []func(dir string) error{
		func(dir string) error { return os.Symlink(secret, filepath.Join(dir, "attention.go")) },
		func(dir string) error { return os.Mkdir(filepath.Join(dir, "attention.go"), 0o755) },
	} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "task1_reference"), 0o755))
		require.NoError(t, make(filepath.Join(dir, "task1_reference")))
		_, err := Read(dir, permitted)
		var trouble *Trouble
		assert.ErrorAs(t, err, &trouble)
	}
	dir := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Dir(secret), filepath.Join(dir, "task1_reference")))
	_, err := Read(dir, permitted)
	assert.ErrorContains(t, err, "none of the course's files")
}

func TestBareFilesAreTakenByTheirPackage(t *testing.T) {
	one, two, four := "// mine\npackage reference\n", "package unfused\n", "package flash\n"
	for name, c := range map[string]struct {
		files []file
		want  map[string]string // nil: for a person to decide
		says  string
	}{
		"both tasks":           {[]file{{name: "a/attention.go", text: one}, {name: "b/attention.go", text: two}}, map[string]string{"task1_reference/attention.go": one, "task2_unfused/attention.go": two}, "a/attention.go for task1_reference/attention.go, by its package clause"},
		"kernels beside":       {[]file{{name: "attention.go", text: two}, {name: "kernels.cu", text: "k"}, {name: "Results.md", text: "r"}, {name: "notes.txt"}}, map[string]string{"task2_unfused/attention.go": two, "task2_unfused/kernels.cu": "k"}, "as the Go file beside it"},
		"its only name":        {[]file{{name: "only.cu", text: "k"}}, map[string]string{"task9_x/only.cu": "k"}, "the only file of this name"},
		"its header":           {[]file{{name: "only.cu", text: "k"}, {name: "tile.cuh", text: "h"}, {name: "other.cuh", text: "x"}}, map[string]string{"task9_x/only.cu": "k", "task9_x/tile.cuh": "h"}, "the only file of this name"},
		"kernels alone":        {[]file{{name: "kernels.cu", text: "k"}}, nil, "kernels.cu could be any of task2_unfused/kernels.cu, task4_flash/kernels.cu"},
		"kernels of neither":   {[]file{{name: "attention.go", text: one}, {name: "kernels.cu", text: "k"}}, nil, "kernels.cu could be any of"},
		"kernels of both":      {[]file{{name: "attention.go", text: two}, {name: "x/attention.go", text: four}, {name: "y/kernels.cu", text: "k"}}, nil, "kernels.cu could be any of"},
		"one task twice":       {[]file{{name: "a/attention.go", text: two}, {name: "b/attention.go", text: two}}, nil, "two files could be task2_unfused/attention.go"},
		"a foreign package":    {[]file{{name: "attention.go", text: "package main\n"}}, nil, "none of the course's files is in it"},
		"a link":               {[]file{{name: "only.cu", text: "/etc/passwd", mode: os.ModeSymlink}}, nil, "is a symbolic link"},
		"a folder counts more": {[]file{{name: "attention.go", text: two}, {name: "task2_unfused/attention.go", text: "mine"}}, map[string]string{"task2_unfused/attention.go": "mine"}, ""},
	} {
		got, err := Read(saved(t, "bare.zip", zipOf(t, c.files...)), permitted)
		if c.want == nil {
			var broken *Trouble
			require.ErrorAs(t, err, &broken, name)
			assert.Contains(t, broken.Text, c.says, name)
			continue
		}
		require.NoError(t, err, name)
		files := map[string]string{}
		for n, data := range got.Files {
			files[n] = string(data)
		}
		assert.Equal(t, c.want, files, name)
		assert.Contains(t, strings.Join(got.Notes, ""), c.says, name)
		assert.Len(t, string(got.Receipt), 64, name)
	}
	got, err := Read(saved(t, "r.zip", zipOf(t, file{name: "w/task1_reference/attention.go", text: one}, file{name: "w/Results.md", text: "mine"}, file{name: "Results.md", text: "another"})), permitted)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(got.Results), "beside the task folders")
}

func TestAnswersAreFoundInResults(t *testing.T) {
	text := "# Results\n\n## Task 1: Reference\n\n<!-- flashlab: task 1 -->\nx\n<!-- flashlab: end of task 1 -->\n\n### Questions\n\n#### 1. Why?\n\nBecause.\n\n```\n## no heading\n```\n\n" +
		"#### 2. How?\n\n…\n\n#### 3. When?\n\n  \n## Task 2: Unfused\n\n#### 1. What?\n\nThis \x1b[2J.\n\n### Notes\n\nmine\n"
	assert.Equal(t, []record.Answer{{Task: "1", Number: 1, Text: "Because.\n\n```\n## no heading\n```"}, {Task: "2", Number: 1, Text: "This \x1b[2J."}}, Answers([]byte(text)))
	assert.Empty(t, Answers(nil))
	assert.LessOrEqual(t, len(Answers([]byte("## Task 1: x\n#### 1. y\n" + strings.Repeat("long ", 5000)))[0].Text), 4100)
}

// TestNoHandInBringsTheClassesOwnFiles: the instructor's tables and what a batch writes, wherever a submission has files of
// their names, change nothing of what it holds.
func TestNoHandInBringsTheClassesOwnFiles(t *testing.T) {
	dir := t.TempDir()
	own := []file{{name: "task2_unfused/attention.go", text: "a"}, {name: "task2_unfused/kernels.cu", text: "k"}}
	read := func(more ...file) Content {
		name := filepath.Join(dir, "work.zip")
		require.NoError(t, os.WriteFile(name, zipOf(t, append(more, own...)...), 0o644))
		c, err := Read(name, permitted)
		require.NoError(t, err)
		return c
	}
	plain := read()
	for _, name := range []string{"course.toml", "roster.csv", "overrides.csv", "times.csv", "canvas.csv", "moodle.csv", "site.toml", "release.json", "go.mod", "rubric.toml", "submission_metadata.yml",
		"gradebook.csv", "feedback.md", "settings.json", "accepted.json", "plan.json", "done.json", "unit", "jobs.json", "records/a-1.json", ".slurm/parts/0/done.json", "task2_unfused/solution/kernels.cu"} {
		for _, folder := range []string{"", "task2_unfused/", "task2_unfused/solution/", "out/", "../"} {
			if folder == "../" {
				_, err := Read(saved(t, "other.zip", zipOf(t, append(own, file{name: folder + name, text: "x"})...)), permitted)
				assert.ErrorContains(t, err, "leads out of the archive", name)
				continue
			}
			c := read(file{name: folder + name, text: "x"})
			assert.Equal(t, plain.Files, c.Files, folder+name)
			assert.Equal(t, plain.Receipt, c.Receipt, folder+name)
		}
	}
}
