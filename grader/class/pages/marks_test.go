package pages

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/tasks/registry"
)

// marking is a class of n whose two questions of task 2 are marked one by one; the first student has a mark.
func marking(t *testing.T, n int) Input {
	in := sample(t, n)
	in.Class.Course.Manual[0].Questions = map[string]float64{"1": 0.75, "2": 0.25}
	in.Questions = map[registry.Name][]Question{"2": {{Number: 1, Text: "Why a barrier?", Key: "Because."}, {Number: 2, Text: "How many bytes?"}}}
	for i, r := range in.Class.Records {
		r.Submission.Answers = []record.Answer{{Task: "2", Number: 1, Text: "<script>alert(1)</script>\nanswer of " + r.Student.ID}}
		if i < len(hostile) {
			r.Submission.Answers = append(r.Submission.Answers, record.Answer{Task: "2", Number: 2, Text: hostile[i]})
		}
	}
	in.Class.Tables.Marks = []gradebook.Mark{{Student: "s014", Item: "questions/1", Points: 0.5, Comment: "=not; \"quite\", yet", By: "kt"}}
	in.Entries = in.Class.Entries()
	return in
}

func TestEachQuestionHasARowForEachStudent(t *testing.T) {
	in := marking(t, 20)
	page := written(t, in)[Marks]
	handedIn := 0
	for _, e := range in.Entries {
		if e.Attempts > 0 {
			handedIn++
		}
	}
	assert.Equal(t, 2*handedIn, strings.Count(page, `data-student="`))
	assert.Equal(t, handedIn, strings.Count(page, `data-item="questions/1"`))
	assert.Contains(t, page, "question 2 <span")
	assert.Contains(t, page, `max="0.75"`)
	assert.Contains(t, page, `data-points="0.5"`)
	assert.Contains(t, page, "&lt;script&gt;alert(1)&lt;/script&gt;\nanswer of s014")
	assert.Equal(t, 1, strings.Count(page, "<script"), "its own")
	assert.Contains(t, page, "<script>"+script+"</script>", "as its hash wants it, to the byte")
	assert.Contains(t, page, string(policy()), "no other script runs")
}

// What the page saves is a manual.csv that the grader reads back: the marks that were there, and the new ones.
func TestThePageWritesATableOfMarks(t *testing.T) {
	chromium := browser(t)
	out := t.TempDir()
	in := marking(t, 20)
	require.NoError(t, Write(out, in))
	page, err := os.ReadFile(filepath.Join(out, Marks))
	require.NoError(t, err)
	const probe = `<pre id="told"></pre><script>
document.getElementById("by").value = "a, b";
rows().forEach((row, i) => { if (i % 3 == 0) { row.querySelector("input").value = "0.25"; row.querySelector("textarea").value = ["fine", "-1: \"no\"", "=1+1; or, so"][i / 3 % 3]; } });
document.getElementById("told").textContent = table();
</script></body>`
	probed := strings.Replace(string(page), "</body>", probe, 1)
	probed = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`).ReplaceAllString(probed, "") // for our own script
	name := filepath.Join(out, "probed.html")
	require.NoError(t, os.WriteFile(name, []byte(probed), 0o644))
	dom := chromium("--virtual-time-budget=2000", "--dump-dom", "file://"+name)
	_, told, ok := strings.Cut(dom, `<pre id="told">`)
	require.True(t, ok)
	told, _, _ = strings.Cut(told, "</pre>")
	saved := filepath.Join(out, "manual.csv")
	require.NoError(t, os.WriteFile(saved, []byte(html.UnescapeString(told)), 0o644))
	_, rows, err := intake.ReadTable(saved)
	require.NoError(t, err)
	want := map[string]bool{"s014 questions/1 0.5 =not; \"quite\", yet kt": true}
	i := 0
	for _, item := range sheetOf(in).Items {
		for _, row := range item.Rows {
			if i%3 == 0 {
				delete(want, row.ID+" "+item.ID+" 0.5 =not; \"quite\", yet kt")
				want[fmt.Sprintf("%s %s 0.25 %s a, b", row.ID, item.ID, []string{"fine", `-1: "no"`, "=1+1; or, so"}[i/3%3])] = true
			}
			i++
		}
	}
	got := map[string]bool{}
	for _, r := range rows {
		got[strings.Join([]string{r.Get("student"), r.Get("item"), r.Get("points"), r.Get("comment"), r.Get("by")}, " ")] = true
	}
	assert.Equal(t, want, got)
}
