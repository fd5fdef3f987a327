package intake

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNobodyHandsInForAnother: whatever a student calls their file, no export's layout makes it another's. It walks
// each layout with each file's name that could mean somebody else, for each pair of a class.
func TestNobodyHandsInForAnother(t *testing.T) {
	type who struct{ id, name, canvas, moodle string }
	class := []who{{"ada", "Ada Lovelace", "101", "4711"}, {"bob", "Bob Kern", "102", "4712"}, {"cyd", "Cyd", "4711", "101"}} // Canvas's numbers and Moodle's overlap
	text := "id,name,canvas,moodle\n"
	for _, w := range class {
		text += fmt.Sprintf("%s,%s,%s,%s\n", w.id, w.name, w.canvas, w.moodle)
	}
	layouts := map[string]func(w who, own string) string{
		"Canvas":           func(w who, own string) string { return "name" + w.id + "_" + w.canvas + "_9001_" + own },
		"Canvas, late":     func(w who, own string) string { return "name" + w.id + "_LATE_" + w.canvas + "_9001_" + own },
		"Moodle's files":   func(w who, own string) string { return w.name + "_" + w.moodle + "_assignsubmission_file_" + own },
		"Moodle's folders": func(w who, own string) string { return w.name + "_" + w.moodle + "_assignsubmission_file_/" + own },
	}
	owns := []func(v who) string{
		func(v who) string { return "x_" + v.moodle + "_assignsubmission_file_work.zip" },
		func(v who) string { return v.name + "_" + v.moodle + "_assignsubmission_file_.zip" },
		func(v who) string { return v.name + "_" + v.moodle + "_assignsubmission_onlinetext_work.zip" },
		func(v who) string { return "_" + v.moodle + "_assignsubmission_file.zip" },
		func(v who) string {
			return "_" + v.moodle + "_assignsubmission_file_" + v.moodle + "_assignsubmission_file_x.zip"
		},
		func(v who) string { return "name" + v.id + "_" + v.canvas + "_9001_work.zip" },
		func(v who) string { return "name" + v.id + "_LATE_" + v.canvas + "_9001_work-1.zip" },
		func(v who) string { return v.id + ".zip" },
		func(v who) string { return v.moodle + ".tar.gz" },
	}
	walked, held := 0, 0
	for layout, named := range layouts {
		for _, author := range class {
			for _, victim := range class {
				for _, own := range owns {
					if author == victim {
						continue
					}
					dir := t.TempDir()
					entry := named(author, own(victim))
					require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, entry)), 0o755))
					require.NoError(t, os.WriteFile(filepath.Join(dir, entry), []byte("x"), 0o644))
					for with, known := range map[string]*Roster{"with a roster": roster(t, text), "without": nil} {
						items, err := Find(dir, known)
						require.NoError(t, err, entry)
						require.Len(t, items, 1, entry)
						i := items[0]
						walked++
						if s, ok := known.Find(i.Student.ID); ok {
							assert.Equal(t, author.id, s.ID, "%s, %s: %s", layout, with, entry)
						} else if known != nil || i.Trouble != "" {
							held++
							assert.Contains(t, i.Trouble, "It is assigned to nobody", "%s, %s: %s", layout, with, entry)
							assert.Equal(t, entry, i.Student.ID)
						} else {
							assert.Contains(t, []string{author.canvas, "moodle-" + author.moodle}, i.Student.ID, "%s, %s: %s", layout, with, entry)
						}
					}
				}
			}
		}
	}
	assert.Equal(t, 432, walked)
	assert.Greater(t, held, 100)
}

func TestAPersonDecidesWhoseItIs(t *testing.T) {
	const entry = "Bob Kern_4712_assignsubmission_file_x_4711_assignsubmission_file_work.zip"
	dir := class(t, "Ada_4711_assignsubmission_file_work.zip", entry)
	const head = "id,name,moodle,other\nada,Ada,4711,\n"
	items, err := Find(dir, roster(t, head+"bob,Bob,4712,\n"))
	require.NoError(t, err)
	assert.Equal(t, []string{entry + " 1 " + entry + " trouble", "ada 1 Ada_4711_assignsubmission_file_work.zip"}, short(items))
	assert.Equal(t, "Moodle's pattern occurs twice in its name (_4712_assignsubmission_file, _4711_assignsubmission_file), so it may belong to either participant. "+
		"It is assigned to nobody: add its full name to the right student's line in roster.csv, in any column, and run grader batch again", items[0].Trouble)
	items, err = Find(dir, roster(t, head+"bob,Bob,4712,"+entry+"\n"))
	require.NoError(t, err)
	assert.Equal(t, []string{"ada 1 Ada_4711_assignsubmission_file_work.zip", "bob 1 " + entry}, short(items))

	dir = class(t, "x_4712_assignsubmission_file_\x1b[2J_4711_assignsubmission_file_.zip")
	items, err = Find(dir, roster(t, head+"bob,Bob,4712,x_4712_assignsubmission_file_⟨U+001B⟩[2J_4711_assignsubmission_file_.zip\n"))
	require.NoError(t, err)
	assert.Equal(t, "bob", items[0].Student.ID, "as the report shows the name")

	dir = class(t, "Ada_4711_assignsubmission_file_a.zip", "x_4711_assignsubmission_file_b.zip", "Cyd_4713_assignsubmission_file_a.zip", "Cyd_4713_assignsubmission_file_b.zip")
	items, err = Find(dir, roster(t, head))
	require.NoError(t, err)
	assert.Equal(t, []string{"Ada_4711_assignsubmission_file_a.zip 1 Ada_4711_assignsubmission_file_a.zip trouble", "moodle-4713 1 Cyd_4713_assignsubmission_file_a.zip",
		"moodle-4713 2 Cyd_4713_assignsubmission_file_b.zip", "x_4711_assignsubmission_file_b.zip 1 x_4711_assignsubmission_file_b.zip trouble"}, short(items))
	assert.Contains(t, items[0].Trouble, "its number, 4711, comes with two different names")
}

func TestGradescopesNamesAreNobodysIDs(t *testing.T) {
	dir := class(t, "submission_2/x", "submission_3/x")
	require.NoError(t, os.WriteFile(filepath.Join(dir, gradescopeFile), []byte(`---
submission_2:
  :submitters:
  - :name: ada
submission_3:
  :submitters:
  - :name: Bob
    :sid: ada
    :email: bob@example.org
`), 0o644))
	items, err := Find(dir, roster(t, "id,email\nada,ada@example.org\nbob,bob@example.org\n"))
	require.NoError(t, err)
	assert.Equal(t, []string{"submission_2, member 1 1 submission_2", "submission_3 1 submission_3 trouble"}, short(items), "a name may be anybody's")
	assert.Contains(t, items[1].Trouble, "it matches two students of the roster, ada and bob")
}
