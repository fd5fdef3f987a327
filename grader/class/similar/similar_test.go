package similar

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/copies"
	"flashlab/internal/repo"
)

// solution reads files of the course: a solution's, a version's or a stub's.
func solution(t *testing.T, task, below string) map[string][]byte {
	root, err := repo.Root()
	require.NoError(t, err)
	files := map[string][]byte{}
	for _, name := range []string{"attention.go", "decode.go", "kernels.cu"} {
		if data, err := os.ReadFile(filepath.Join(root, task, below, name)); err == nil {
			files[task+"/"+name] = data
		}
	}
	require.NotEmpty(t, files)
	return files
}

func work(id string, files ...map[string][]byte) Work {
	all := map[string][]byte{}
	for _, f := range files {
		maps.Copy(all, f)
	}
	return Work{Origin: Origin{ID: id, Attempt: 1}, Files: all}
}

var (
	name    = regexp.MustCompile(`\b[a-z][A-Za-z0-9_]*\b`)
	comment = regexp.MustCompile(`(?m)//.*$`)
)

// disguised renames what is not a keyword, drops comments and puts the functions in another order.
func disguised(files map[string][]byte, seed uint64) map[string][]byte {
	draw := rand.New(rand.NewPCG(seed, 1))
	out := map[string][]byte{}
	for file, data := range files {
		text := comment.ReplaceAllString(string(data), "")
		keep := strings.Fields(`package import func var const type struct return if else for range switch case default break continue nil true false error
int float32 float64 string byte make len append copy min max goto map extern bool`)
		text = name.ReplaceAllStringFunc(text, func(w string) string {
			if slices.Contains(keep, w) || copies.Word(w) || strings.HasPrefix(w, "__") {
				return w
			}
			return "my_" + w
		})
		// Top-level functions end at a brace in the first column.
		parts := strings.SplitAfter(text, "\n}\n")
		head, rest := parts[0], parts[1:]
		draw.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		out[file] = []byte(head + strings.Join(rest, "\n\n"))
	}
	return out
}

// others is a class of works that were written apart: the solution of task 4 and its versions, which share an
// idea and little text. (Those of task 2 share half of their kernels.)
func others(t *testing.T) []Work {
	return []Work{
		work("plain", solution(t, "task4_flash", "solution/_versions/1_rows")),
		work("registers", solution(t, "task4_flash", "solution/_versions/4_quads"), solution(t, "task3_tiled_go", "solution")),
		work("best", solution(t, "task4_flash", "solution"), solution(t, "task5_decode", "solution")),
	}
}

func stubs(t *testing.T) map[string][]byte {
	return work("", solution(t, "task2_unfused", ""), solution(t, "task3_tiled_go", ""), solution(t, "task4_flash", ""), solution(t, "task5_decode", "")).Files
}

func TestACopyIsFoundInDisguise(t *testing.T) {
	in := Input{Works: append(others(t), work("copy", disguised(solution(t, "task4_flash", "solution"), 7))), Stubs: stubs(t)}
	r := Compare(in)
	for _, p := range r.Pairs {
		t.Logf("%.2f %s %s %+v", p.Share, p.A.ID, p.B.ID, p.Tasks[0].Ranges)
	}
	require.NotEmpty(t, r.Pairs)
	assert.Equal(t, []string{"best", "copy"}, []string{r.Pairs[0].A.ID, r.Pairs[0].B.ID}, "at the top")
	assert.Greater(t, r.Pairs[0].Share, 0.8)
	assert.Equal(t, "task4_flash", r.Pairs[0].Tasks[0].Task)
	for _, p := range r.Pairs[1:] {
		assert.Less(t, p.Share, 0.5, "works that were written apart: %s and %s", p.A.ID, p.B.ID)
	}
}

func TestOnlyTheKernelsAreCopied(t *testing.T) {
	whole := disguised(solution(t, "task2_unfused", "solution"), 3)
	mixed := solution(t, "task2_unfused", "solution/_versions/2_shared")
	mixed["task2_unfused/kernels.cu"] = whole["task2_unfused/kernels.cu"]
	r := Compare(Input{Works: []Work{work("a", solution(t, "task2_unfused", "solution")), work("b", mixed)}, Stubs: stubs(t)})
	require.NotEmpty(t, r.Pairs)
	all := r.Pairs[0].Tasks[0].Ranges
	at := slices.IndexFunc(all, func(r Range) bool { return r.FileA == "task2_unfused/kernels.cu" && r.FileB == r.FileA })
	require.GreaterOrEqual(t, at, 0)
	assert.Greater(t, all[at].ToA, all[at].FromA+10)
	assert.Greater(t, all[at].ToB, all[at].FromB+10)
}

// TestWhatMatchesIsToldByLines: of a copy with lines of its own in between, the pieces leave these out on both sides.
func TestWhatMatchesIsToldByLines(t *testing.T) {
	var lines []string
	draw := rand.New(rand.NewPCG(8, 8))
	for range 40 { // no line has the form of another
		line := "    out ="
		for range 8 {
			line += " (a[i] " + string("+-*/&|^<>"[draw.IntN(9)]) + " b)" + string("+-*/"[draw.IntN(4)])
		}
		lines = append(lines, line+" c;")
	}
	copied := slices.Insert(slices.Clone(lines), 20, "    // mine", "    int extra = f(g(h(1)));", "    while (extra > 0) { extra -= 2; }")
	file := func(lines []string) map[string][]byte {
		return map[string][]byte{"task2_unfused/kernels.cu": []byte(strings.Join(lines, "\n") + "\n")}
	}
	r := Compare(Input{Works: []Work{work("a", file(lines)), work("b", file(copied))}})
	require.Len(t, r.Pairs, 1)
	last := 0
	for _, one := range r.Pairs[0].Tasks[0].Ranges {
		require.NotEmpty(t, one.Same)
		assert.Equal(t, []int{one.FromA, one.FromB, one.ToA, one.ToB}, []int{one.Same[0].FromA, one.Same[0].FromB, one.Same[len(one.Same)-1].ToA, one.Same[len(one.Same)-1].ToB})
		for _, s := range one.Same {
			assert.Equal(t, s.ToA-s.FromA, s.ToB-s.FromB, "%+v", s)
			assert.False(t, s.FromB <= 23 && s.ToB >= 21, "lines 21 to 23 are b's own: %+v", s)
			last = max(last, s.ToB)
		}
	}
	assert.GreaterOrEqual(t, last, 40, "what comes after them is found, too")
}

func TestStubsAndSolutionsAreNobodysOwn(t *testing.T) {
	given := stubs(t)
	assert.Empty(t, Compare(Input{Works: []Work{work("a", given), work("b", given)}, Stubs: given}).Pairs, "two stubs")

	published := work("task4_flash", solution(t, "task4_flash", "solution"))
	published.Past = Published
	copied := solution(t, "task4_flash", "solution")
	r := Compare(Input{Works: []Work{work("a", copied), work("b", disguised(copied, 1))}, Published: []Work{published}, Stubs: given})
	require.Len(t, r.Pairs, 2, "each with the solution, and not with each other")
	for _, p := range r.Pairs {
		assert.Equal(t, Published, p.B.Past)
		assert.Greater(t, p.Share, 0.8)
	}
}

func TestEarlierYears(t *testing.T) {
	old := work("x9", disguised(solution(t, "task4_flash", "solution"), 5))
	old.Past = "2025"
	r := Compare(Input{Works: others(t), Past: []Work{old, old}, Stubs: stubs(t)})
	require.NotEmpty(t, r.Pairs)
	assert.Equal(t, "2025", r.Pairs[0].B.Past)
	assert.Equal(t, "best", r.Pairs[0].A.ID)
	for _, p := range r.Pairs {
		assert.Empty(t, p.A.Past, "earlier years are not compared with each other")
	}
}

func TestTwoHundredTakeSeconds(t *testing.T) {
	draw := rand.New(rand.NewPCG(4, 4))
	base := []map[string][]byte{solution(t, "task2_unfused", "solution"), solution(t, "task4_flash", "solution"), solution(t, "task5_decode", "solution")}
	var works []Work
	for i := range 200 {
		var own []map[string][]byte
		for _, b := range base { // lines of a solution, thinned out: works of some likeness
			one := map[string][]byte{}
			for file, data := range b {
				kept := slices.DeleteFunc(strings.Split(string(data), "\n"), func(string) bool { return draw.IntN(8) == 0 })
				one[file] = []byte(strings.Join(kept, "\n"))
			}
			own = append(own, one)
		}
		works = append(works, work(fmt.Sprintf("s%03d", i), own...))
	}
	began := time.Now()
	r := Compare(Input{Works: works, Stubs: stubs(t)})
	t.Logf("%v for 200, %d pairs and %d more", time.Since(began), len(r.Pairs), r.More)
	assert.Less(t, time.Since(began), 20*time.Second)
}

func TestOddFiles(t *testing.T) {
	odd := map[string][]byte{
		"task2_unfused/kernels.cu":   []byte(strings.Repeat("a+", 200_000) + "\x00\xff\"unclosed"),
		"task2_unfused/attention.go": []byte("package unfused\nfunc (((( `never closed"),
		"task4_flash/kernels.cu":     nil,
		"task4_flash/attention.go":   []byte(strings.Repeat("\"\n", 1000)),
	}
	r := Compare(Input{Works: []Work{work("a", odd), work("b", odd), work("none")}})
	assert.LessOrEqual(t, len(r.Pairs), 1)
	assert.Equal(t, 3, r.Compared)
	assert.Empty(t, Compare(Input{}).Pairs)
}
