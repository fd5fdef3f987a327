package folder

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/course"
	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/pages"
	"flashlab/grader/class/record"
	"flashlab/grader/class/similar"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/repo"
)

// hostile are texts that a student, or a student's program, could have the grader show.
var hostile = []string{
	"=cmd|' /C calc'!A0", "＝HYPERLINK(\"http://x\")", ";=1+1", "a;\"=1+1\"", "a; \u200d=1+1", "\t=1", "\u200d=1+1", "\u00a0=1", "'=1", "-1+2", "+1", "@SUM(1)", "−1+2", "﹦1", "|x", "%x",
	"\x1b]0;title\x07\x1b[31m", "\x1b[2J\x1b[H", "gnp\u202eexe.", "\u2066a\u2069\u200f\u061c", "\u009b31m", "ok\r\nforged: all points\nforged: too", "\u2028forged: again", "\ue000\U000e0041\u200b\ufeff",
	"Z" + strings.Repeat("\u0336", 40), "`\n```\n# forged", "a\x00b\x08\x08\x7f",
}

// fill puts a text into every string of a value, and something into every list.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() && v.CanSet() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem(), text)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fill(v.Field(i), text)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.String:
		v.SetString(text)
	}
}

// hostileClass is a class of one, in which every text that comes from outside is the given one.
func hostileClass(t *testing.T, text string) (gradebook.Class, *record.Record) {
	root, err := repo.Root()
	require.NoError(t, err)
	all, err := rubric.LoadAll(root)
	require.NoError(t, err)
	var have []registry.Name
	for _, one := range all {
		have = append(have, one.Name)
	}
	c, err := course.Parse("course.toml", "tasks = [1, 2]\ndeadline = \"2026-12-01 23:59\"\n[[manual]]\nid = \"q\"\ntask = 1\npoints = 1.0\n", have)
	require.NoError(t, err)
	c.Title, c.Manual[0].Title, c.Canvas.Total = text, text, text
	r := &record.Record{}
	fill(reflect.ValueOf(r), text)
	r.Submission.Requests[1].Task = "2"
	r.Student.ID, r.Attempt, r.Tasks = "s1"+text, 1, nil
	for _, name := range []registry.Name{"1", "2"} {
		var one record.Task
		fill(reflect.ValueOf(&one), text)
		task, err := rubric.Find(all, string(name))
		require.NoError(t, err)
		one.Name, one.Result.Task, one.Result.Seed = name, name, 1
		one.Failed, one.Result.Dir = "", task[0].Dir
		if name == "1" {
			one.Failed = text
		}
		for i := range one.Result.Checks {
			k := &one.Result.Checks[i]
			k.ID = task[0].Checks[i].ID
			one.Result.Held[i].Check = k.ID
			k.Parts[0].Name, k.Parts[1].Name = "correctness", "safety"
			for j := range k.Cases {
				k.Cases[j].Hidden, k.Cases[j].Passed = false, false
			}
		}
		one.Result.Held = one.Result.Held[:1] // the other check is shown whole
		r.Put(one)
	}
	roster := &intake.Roster{}
	require.NoError(t, roster.Add(record.Student{ID: "s2" + text, Name: text, Email: text + "@x"}, "moodle:4711"))
	tables := gradebook.Tables{Overrides: []gradebook.Override{{Student: r.Student.ID, Task: "2", Check: r.Task("2").Result.Checks[1].ID, Points: 0.1, Reason: text, By: text, Public: text}},
		Answers: []gradebook.Answer{{Request: r.Submission.Requests[0].ID("s1" + text), Text: text, By: text}},
		Marks:   []gradebook.Mark{{Student: r.Student.ID, Item: "q", Points: 0.5, Comment: text, By: text}}}
	return gradebook.Class{Course: c, Rubrics: all, Roster: roster, Tables: tables, Records: []*record.Record{r}}, r
}

// TestNoTextActs: whatever strangers wrote, it is a text where it arrives: in each cell of each table, each page, each
// Markdown file, each results.json, and each line that is printed.
func TestNoTextActs(t *testing.T) {
	files, cells, lines := 0, 0, 0
	for _, text := range hostile {
		dir := t.TempDir()
		class, r := hostileClass(t, text)
		f := Folder{Out: filepath.Join(dir, "out"), Canvas: filepath.Join(dir, "canvas.csv"), Moodle: filepath.Join(dir, "moodle.csv")}
		require.NoError(t, record.Write(f.Out, r))
		export(t, f.Canvas, []string{"Student", "ID", "SIS Login ID", text}, []string{text, "101", "s2" + text, text})
		export(t, f.Moodle, []string{"Identifier", "Full name", "Grade", text}, []string{"Participant 4711", text, "", text})

		printed := captured(t, func() {
			class.Records = []*record.Record{r}
			require.NoError(t, f.Write(class))
			progress := batch.NewProgress(os.Stdout, false, class.Measured)
			item := intake.Item{Student: r.Student, Attempt: 2, File: text}
			progress.Begin(1)
			progress.Step(item, "2", 1, 2)
			progress.Done(item, r, 1, nil)
			progress.Done(item, nil, 0, &intake.Trouble{Text: text})
		})
		for line := range strings.Lines(printed) {
			assert.False(t, strings.HasPrefix(line, "forged"), "%q prints a line of its own: %q", text, line)
		}
		printed += captured(t, func() {
			for _, task := range r.Tasks {
				task.Result.MakePlain() // as each is when it is made
				report.Printer{W: os.Stdout}.Verdict(task.Result)
			}
		})
		found, acting := acts(printed)
		assert.False(t, acting, "%q: %U is printed", text, found)
		lines += strings.Count(printed, "\n")
		var alike similar.Result
		fill(reflect.ValueOf(&alike), text)
		entries := class.Entries()
		in := pages.Input{Class: class, Entries: entries, Notices: class.Notices(entries), Out: text, Similar: &alike, Sandbox: text, NotHeld: []string{text},
			Questions: map[registry.Name][]pages.Question{"1": {{Number: 1, Text: text, Key: text}}},
			Files: func(record.Submission) map[string][]byte {
				return map[string][]byte{text: []byte(text), "kernels.cu": []byte(text)}
			}}
		require.NoError(t, pages.Write(f.Out, in))
		n, c := checkFiles(t, text, f.Out)
		files, cells = files+n, cells+c
	}
	assert.Equal(t, len(hostile)*20, files, "five tables, a workbook, four pages, the leaderboard's and the grades' JSON, and of each of two students two files in Markdown, results.json and a page")
	assert.Greater(t, cells, len(hostile)*50)
	t.Logf("%d texts in %d files, %d cells, %d printed lines", len(hostile), files, cells, lines)
}

func export(t *testing.T, name string, rows ...[]string) {
	f, err := os.Create(name)
	require.NoError(t, err)
	require.NoError(t, csv.NewWriter(f).WriteAll(rows))
	require.NoError(t, f.Close())
}

// captured is what is printed meanwhile.
func captured(t *testing.T, do func()) string {
	name := filepath.Join(t.TempDir(), "stdout")
	f, err := os.Create(name)
	require.NoError(t, err)
	old := os.Stdout
	os.Stdout = f
	defer func() { os.Stdout = old }()
	do()
	require.NoError(t, f.Close())
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// acts is the first character of a text that would do something.
func acts(text string) (rune, bool) {
	for _, r := range text {
		if r != '\n' && r != '\t' && r != 0x200c && r != 0x200d && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) {
			return r, true
		}
	}
	return 0, false
}

var figure = regexp.MustCompile(`^-?\d+(\.\d+)?$`)

func checkFiles(t *testing.T, text, out string) (files, cells int) {
	require.NoError(t, filepath.WalkDir(out, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == record.Folder {
				return fs.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		files++
		if filepath.Ext(name) == ".xlsx" {
			data = sheets(t, data)
			assert.NotContains(t, string(data), "<f>", "no cell is a formula")
		}
		r, found := acts(string(data))
		assert.False(t, found, "%q: %U in %s", text, r, filepath.Base(name))
		assert.NotContains(t, string(data), `\u001b`, filepath.Base(name))
		if filepath.Ext(name) != ".csv" {
			return nil
		}
		rows := csv.NewReader(strings.NewReader(string(data)))
		rows.FieldsPerRecord = -1
		for {
			row, err := rows.Read()
			if err == io.EOF {
				return nil
			}
			require.NoError(t, err, name)
			for _, cell := range row {
				cells++
				for _, part := range strings.Split(cell, ";") {
					head := strings.TrimLeftFunc(part, unicode.IsSpace)
					if head == "" || figure.MatchString(cell) {
						continue
					}
					first := []rune(head)[0]
					assert.True(t, unicode.IsLetter(first) || unicode.IsDigit(first) || strings.ContainsRune("(<[&#'", first), "%q: the cell %q of %s", text, cell, filepath.Base(name))
				}
			}
		}
	}))
	return files, cells
}

// sheets are the texts in a workbook.
func sheets(t *testing.T, data []byte) (all []byte) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		all = append(all, bytes.ReplaceAll(text, []byte("\r"), nil)...)
	}
	return all
}
