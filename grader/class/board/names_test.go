package board

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/class/record"
)

var class = []Person{
	{Student: record.Student{ID: "s001", Name: "Ada Lovelace", Email: "ada.lovelace@example.org"}, Also: []string{"101", "moodle:4711"}},
	{Student: record.Student{ID: "s002", Name: "Pascal, Blaise", Email: "bp@example.org"}},
	{Student: record.Student{ID: "s003", Name: "Ada Noether"}},
	{Student: record.Student{ID: "s004"}},
}

func decide(by int, name string) string {
	return Decide([]Choice{{By: []record.Student{class[by].Student}, Name: name}}, class, []string{"Rude Word"})[0]
}

// Whoever looks at the page takes none of these for another student.
func TestNobodyShowsUpAsSomebodyElse(t *testing.T) {
	for _, id := range []string{"s001", "S001", "s0O1", "s00l", "S OO I", "s-0-0-1", "x s001 x", "the_s001", "101", "1O1", "ada.lovelace", "bp", "ｓ００１"} {
		assert.Equal(t, anothersID, decide(3, id), "%q", id)
	}
	for _, name := range []string{"Ada Lovelace", "lovelace", "LOVELACE ADA", "Ada", "ADÁ", "Blaise Pascal", "B1aise", "Noether"} {
		assert.NotEmpty(t, decide(3, name), "%q", name)
	}
	for by, name := range map[int]string{0: "Ada", 1: "Pascal", 2: "Ada N", 3: "s004"} {
		assert.Empty(t, decide(by, name), "one's own is one's own to tell: %q", name)
	}
	for _, name := range []string{"Warp Emmy", "s9", "bank conflict", "Зоя", "作業"} {
		assert.Empty(t, decide(3, name), name)
	}
	assert.Equal(t, unwanted, decide(3, "rude-w0rd"))
	assert.Contains(t, decide(3, strings.Repeat("long", 9)), "36 characters")
	assert.Contains(t, decide(3, "<i>"), "neither a letter")
}

func TestTheFirstToChooseANameKeepsIt(t *testing.T) {
	early, late := time.Unix(1000, 0), time.Unix(2000, 0)
	choose := func(name string, at ...time.Time) (all []Choice) {
		for i, when := range at {
			all = append(all, Choice{By: []record.Student{class[i].Student}, Name: name, At: when})
		}
		return all
	}
	assert.Equal(t, []string{chosen, ""}, Decide(choose("Warp", late, early), class, nil))
	assert.Equal(t, []string{chosen, ""}, Decide(choose("Warp", time.Time{}, late), class, nil), "who has a time comes first")
	assert.Equal(t, []string{"", chosen, chosen}, Decide(choose("Warp", time.Time{}, time.Time{}, time.Time{}), class, nil))
	two := choose("Warp", early, late)
	two[1].Name = "vvarp"
	assert.Equal(t, []string{"", chosen}, Decide(two, class, nil), "it looks the same")
	two[0].Name = "s002"
	assert.Equal(t, []string{anothersID, ""}, Decide(two, class, nil), "what is refused takes nothing")
	for _, why := range []string{anothersID, anothersName, chosen} {
		for _, p := range class {
			assert.NotContains(t, why, p.Student.ID)
		}
	}
}

func TestAGroupHasOneName(t *testing.T) {
	both := []record.Student{class[0].Student, class[1].Student}
	assert.Equal(t, []string{""}, Decide([]Choice{{By: both, Name: "Blaise"}}, class, nil))
}
