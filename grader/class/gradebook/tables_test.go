package gradebook

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/intake"
)

func TestTablesAreRead(t *testing.T) {
	c := parsed(t, text0+"[[manual]]\nid = \"q\"\ntask = 1\npoints = 0.5\n")
	read := func(name, text string) (Tables, error) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		return ReadTables(dir, c, nil, rubrics)
	}
	tables, err := read("extensions.csv", "student,task,until,reason,by\na,2,2026-11-20 12:00,ill,kt\nb,,2026-11-21 12:00,,\n")
	require.NoError(t, err)
	assert.Equal(t, []Extension{{Student: "a", Task: "2", Until: *at("2026-11-20 12:00"), Reason: "ill", By: "kt", place: place{"extensions.csv", 2}}, {Student: "b", Until: *at("2026-11-21 12:00"), place: place{"extensions.csv", 3}}}, tables.Extensions)
	tables, err = read("overrides.csv", "student,check,points,reason,by,public,receipt\na,2/softmax,1.5,why,kt,,ABAB cdcd 1234\na,task1,2,why,kt,for all to read,\n")
	require.NoError(t, err)
	assert.Equal(t, []Override{{"a", "2", "softmax", 1.5, "why", "kt", "", "ababcdcd1234", place{"overrides.csv", 2}}, {"a", "1", "", 2, "why", "kt", "for all to read", "", place{"overrides.csv", 3}}}, tables.Overrides)
	tables, err = read("times.csv", "student,attempt,submitted\na,1,2026-11-20 12:00\n")
	require.NoError(t, err)
	assert.Equal(t, []Time{{"a", 1, *at("2026-11-20 12:00"), place{"times.csv", 2}}}, tables.Times)

	for name, cases := range map[string]map[string]string{
		"extensions.csv": {"student\na\n": `no column "until"`, "student,until\na,soon\n": "extensions.csv:2: until", "student,until\na,\n": "until is empty"},
		"overrides.csv": {"student,check,points,reason,by\na,2/softmax,1,,kt\n": "overrides.csv:2: reason or by is empty",
			"student,check,points,reason,by\na,softmax,1,r,kt\n": "want a check like 2/softmax", "student,check,points,reason,by\na,2,NaN,r,kt\n": "want a number",
			"student,check,points,reason,by\na,2/softmax,90,r,kt\n":                  "overrides.csv:2: 90 points are more than 2/softmax is worth, 4",
			"student,check,points,reason,by\na,1,2.5,r,kt\n":                         "2.5 points are more than 1 is worth, 2",
			"student,check,points,reason,by\na,2/sofmax,1,r,kt\n":                    "task 2 has no check \"sofmax\"; it has softmax",
			"student,check,points,reason,by,receipt\na,2/softmax,1,r,kt,attempt 1\n": "want the attempt's receipt, 12 digits"},
		"manual.csv": {"student,item,points\na,p,1\n": "not a [[manual]]", "student,item,points\na,q,1\n": "1 points, and q has 0.5"},
		"times.csv":  {"student,attempt,submitted\na,0,2026-11-20 12:00\n": "want 1 or more", "student,attempt,submitted\na,1,\n": "submitted is empty"},
	} {
		for text, want := range cases {
			_, err := read(name, text)
			assert.ErrorContains(t, err, want, text)
		}
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overrides.csv"), []byte("student,check,points,reason,by\nx,2,1,r,kt\n"), 0o644))
	_, err = ReadTables(dir, c, &intake.Roster{}, rubrics)
	assert.ErrorContains(t, err, `the roster has no student "x"`)
}
