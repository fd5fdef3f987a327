package pages

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
)

// written are the pages of a class, by their names.
func written(t *testing.T, in Input) map[string]string {
	out := t.TempDir()
	require.NoError(t, Write(out, in))
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(out, path)
		all[name] = string(text)
		return err
	}))
	return all
}

// element is what HTML takes for the start of one of the elements that we never write.
var element = regexp.MustCompile(`(?i)<(script|img|iframe|object|embed|form|base|link)\b`)

func TestStrangersTextsStayTexts(t *testing.T) {
	for name, page := range written(t, sample(t, 60)) {
		if name == Marks { // one script, which is the page's own (marks_test.go)
			page = strings.Replace(page, "<script>"+script+"</script>", "", 1)
		}
		assert.NotRegexp(t, element, page, name)
		if filepath.Ext(name) == ".html" {
			assert.Equal(t, 1, strings.Count(page, "</style>"), name)
		}
		assert.NotRegexp(t, `(href|src)="?javascript`, page, name)
		assert.NotRegexp(t, "[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]", page, name)
		assert.NotContains(t, page, "ZgotmplZ", name)
		assert.NotRegexp(t, `(?i)(src|href)="?(https?:)?//`, page, "%s fetches nothing", name)
	}
}

func TestTheClassPageNamesNobody(t *testing.T) {
	in := sample(t, 60)
	page := written(t, in)[Class]
	for _, e := range in.Entries[len(hostile):] {
		assert.NotContains(t, page, e.Student.Name)
		assert.NotContains(t, page, e.Student.ID)
	}
	for _, word := range []string{"held", "await", "similar", "copied", "override", "Similar"} {
		assert.NotContains(t, page, word)
	}
	for _, r := range in.Class.Rubrics {
		for _, c := range r.Checks {
			for _, k := range c.Cases {
				if k.Hidden {
					assert.NotContains(t, page, c.ID+"/"+k.Name+"<")
				}
			}
		}
	}
	few := written(t, sample(t, 4))[Class]
	assert.Contains(t, few, "Fewer than five")
	assert.NotContains(t, few, "<svg")
}

func TestFeedbackNamesTheLinesThatCostTraffic(t *testing.T) {
	named := 0
	for name, page := range written(t, sample(t, 60)) {
		if filepath.Base(name) == Feedback && strings.Contains(page, "<code>kernels.cu:62: a warp&#39;s request moves 32 sectors, and 4 would do") {
			named++
		}
	}
	assert.Positive(t, named)
}

func TestFeedbackHoldsNothingThatIsTheInstructors(t *testing.T) {
	in := sample(t, 60)
	all := written(t, in)
	report := all[Report]
	for _, id := range []string{"s021", "s038", "s055"} {
		page := all[filepath.Join("students", id, Feedback)]
		require.NotEmpty(t, page)
		assert.Contains(t, page, "awaiting a person")
		assert.NotContains(t, page, "copied", "why a check is held")
		assert.NotContains(t, page, "overrides.csv")
		assert.Contains(t, report, "go run ./grader unpack STUDENT="+id+" ATTEMPT=1 O=out/look/"+id+" out/class &amp;&amp; go run ./grader grade TASK=2 CASE=softmax/")
		assert.Contains(t, report, id+",2/softmax,POINTS,REASON,YOUR NAME")
	}
	assert.Contains(t, report, "copied 96000 bytes")
	assert.Contains(t, report, "Dorothea B.")
	for _, e := range in.Entries {
		page := all[filepath.Join("students", record.Safe(e.Student.ID), Feedback)]
		for _, task := range e.Tasks {
			if task.Part == nil {
				continue
			}
			for _, c := range task.Part.Result.Checks {
				for _, k := range c.Cases {
					if k.Hidden && !k.Passed {
						assert.NotContains(t, page, c.ID+"/"+k.Name+"\n")
						assert.NotContains(t, page, c.ID+"/"+k.Name+"<")
						assert.NotContains(t, page, c.ID+"/"+k.Name+",")
					}
				}
			}
		}
	}
}

func TestOfAHiddenFindingThePageShowsPlaceAndKind(t *testing.T) {
	in := sample(t, 20)
	for _, r := range in.Class.Records {
		for i := range r.Tasks {
			for j := range r.Tasks[i].Result.Checks {
				for k := range r.Tasks[i].Result.Checks[j].Findings {
					r.Tasks[i].Result.Checks[j].Findings[k].Case = ""
				}
			}
		}
	}
	in.Entries = in.Class.Entries()
	shown := 0
	for name, page := range written(t, in) {
		if strings.HasSuffix(name, Feedback) {
			assert.NotContains(t, page, "partial[0] (4 bytes)", name)
			shown += strings.Count(page, "kernels.cu:46:15: race, in a hidden case")
		}
	}
	assert.Positive(t, shown)
}

func TestTheSameRecordsGiveTheSamePages(t *testing.T) {
	assert.Equal(t, written(t, sample(t, 20)), written(t, sample(t, 20)))
	assert.Len(t, written(t, sample(t, 0)), 6, "a class of nobody has its four pages, the leaderboard's JSON, and the checks' table")
}

func TestAPastedCommandIsOneWordAWord(t *testing.T) {
	assert.Equal(t, "softmax/17x113", quote("softmax/17x113"))
	assert.Equal(t, `'$(rm -rf ~)'\''; x'`, quote("$(rm -rf ~)'; x"))
	assert.Equal(t, "''", quote(""))
}

func TestDrawings(t *testing.T) {
	h := histogramOf([]float64{0, 0.09, 0.1, 0.5, 1, 1, 1.2})
	var counts []int
	for _, b := range h.Bars {
		counts = append(counts, b.Count)
		assert.LessOrEqual(t, b.Y+b.Height, histHeight-histFoot+1e-9)
		assert.GreaterOrEqual(t, b.Y, histHead-1e-9)
	}
	assert.Equal(t, []int{2, 1, 0, 0, 0, 1, 0, 0, 0, 3}, counts)

	var dots []dot
	for range 200 {
		dots = append(dots, dot{Value: 1})
	}
	assert.Equal(t, "0 to 10 %: 2, 10 to 20 %: 1, 50 to 60 %: 1, 90 to 100 %: 3", h.Says)
	assert.Equal(t, []tick{{histHeight - histFoot, "0"}, {58, "2"}}, h.Ticks)

	s := stripOf("t", "", "", append(dots, dot{Value: 0.25}, dot{Value: 3}), rubric.Curve{})
	assert.Less(t, s.Height, 140.0, "however many dots there are")
	assert.Empty(t, s.Limits)
	for _, d := range s.Dots {
		assert.True(t, d.X >= 0 && d.X <= stripWidth && d.Y > 0 && d.Y < s.Floor, "%+v", d)
	}
	assert.Equal(t, "1/4", s.Ticks[0].Label)
	assert.Equal(t, "4", s.Ticks[len(s.Ticks)-1].Label)
	assert.Equal(t, "1", stripOf("t", "", "", []dot{{Value: 1}}, rubric.Curve{}).Median)

	s = stripOf("t", "", "", []dot{{Value: 1}}, rubric.Curve{Full: 2, None: 16}) // traffic: less is better
	assert.Equal(t, "1", s.Ticks[0].Label)
	assert.Equal(t, "16", s.Ticks[len(s.Ticks)-1].Label, "the axis reaches the limits")
	assert.Equal(t, []string{"no points: 16", "all points: 2"}, []string{s.Limits[0].Says, s.Limits[1].Says})
	assert.Equal(t, s.Ticks[1].X, s.Limits[1].X)
	assert.Equal(t, []string{"end", "start"}, []string{s.Limits[0].Anchor, s.Limits[1].Anchor})
	assert.Greater(t, s.Dots[0].Y, stripHead)
}
