package show

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/trace"
)

// two is a run of a kernel with a column's read, a race and a warp in each other's way.
func two() Run {
	source := "// <script>alert(1)</script>\n__global__ void f(float *x) {\n    __shared__ float s[32][32];\n    s[t][0] = x[32 * t];\n    __syncthreads();\n    x[t] = s[0][t];\n}"
	line := func(n int, op string, shared bool, requests, bytes, sectors, passes uint64) trace.LineCounts {
		return trace.LineCounts{File: "kernels.cu", Line: n, Op: op, Shared: shared, Requests: requests, Bytes: bytes, Sectors: sectors, Passes: passes, Lanes: bytes / 4}
	}
	return Run{Task: "2", Title: "Two", Case: "op/1x2", Subject: "your files", Again: "make show TASK=2", Passed: true, Least: 2560, Moved: 11520,
		Sources: []Source{{"kernels.cu", "task2/kernels.cu", source}},
		Counts: []trace.Counts{{Kernel: "f", Launches: 1, Grid: [3]int{10, 1, 1}, Block: [3]int{32, 1, 1}, Blocks: 10, Barriers: 10, Steps: 4000,
			GlobalRead: 1280, GlobalWritten: 1280, SectorsRead: 320, SectorsWritten: 40, GlobalRequests: 20, SharedRequests: 20, SharedPasses: 330,
			LineCounts: []trace.LineCounts{line(4, "read", false, 10, 1280, 320, 0), line(4, "write", true, 10, 1280, 0, 320), line(6, "write", false, 10, 1280, 40, 0), line(6, "read", true, 10, 1280, 0, 10)},
			LineSteps:  []trace.LineSteps{{File: "kernels.cu", Line: 4, Steps: 640}, {File: "kernels.cu", Line: 5, Steps: 320, Barriers: 10}}}}}
}

func race() trace.Finding {
	thread, block := [3]int{1, 0, 0}, [3]int{0, 0, 0}
	return trace.Finding{Check: "racecheck", Kind: "race", Kernel: "f", File: "kernels.cu", Line: 6, Message: "race on shared memory s[0][1] (4 bytes)", Notes: []string{"in words", "no __syncthreads() between them"},
		Hint: "a barrier", Thread: &thread, Block: &block, Count: 7, Sides: []trace.Side{{File: "kernels.cu", Line: 4, Op: "write", Block: block}, {File: "kernels.cu", Line: 6, Op: "read", Thread: thread, Block: block}}}
}

func texts(cells []*cell) (all []string) {
	for _, c := range cells {
		text := ""
		if c != nil {
			text = c.Text
			if c.Least != "" {
				text += " (" + c.Least + ")"
			}
		}
		all = append(all, text)
	}
	return all
}

func TestNumbersOfALine(t *testing.T) {
	r := two()
	r.Times = map[string]Time{r.Counts[0].Kernel: {Takes: "2.4 µs", GPU: "H200", Why: "bound by latency",
		Lines: []LineTime{{r.Counts[0].LineSteps[0].File, 5, 0.75}, {r.Counts[0].LineSteps[0].File, 6, 0.25}, {"other.cu", 1, 0.1}}}}
	p := pageOf(r, room{kernels: 9, quiet: true})
	assert.Equal(t, "4.5", p.Ratio)
	require.Len(t, p.Kernels, 1)
	k := p.Kernels[0]
	assert.Equal(t, "a grid of 10 blocks, each of 32 threads", k.Launched)
	require.Len(t, k.Files, 1)
	rows := k.Files[0].Rows
	require.Len(t, rows, 7)
	assert.Equal(t, []string{"10 KB", "1.2 KB", "32 (4)", "32 (1)", "20", "32", "", "640", ""}, texts(rows[3].Cells))
	assert.Equal(t, []string{"", "", "", "", "", "", "10", "320", "75 %"}, texts(rows[4].Cells))
	assert.Equal(t, []string{"1.2 KB", "1.2 KB", "4", "1", "20", "32", "", "", "25 %"}, texts(rows[5].Cells))
	assert.Nil(t, rows[0].Cells)
	moved := rows[3].Cells[0]
	assert.InDelta(t, 1, moved.Bar, 1e-9)
	assert.InDelta(t, 7.0/8, moved.Spare, 1e-9, "28 of 32 sectors")
	assert.InDelta(t, 0.125, rows[5].Cells[0].Bar, 1e-9)
	assert.True(t, rows[3].Worst)
	require.Len(t, k.Advice, 2)
	assert.Contains(t, k.Advice[0].Text, "neighbouring threads read addresses that are far apart")
	assert.Contains(t, k.Advice[1].Text, "different rows of one bank")
	assert.Equal(t, rows[3].ID, k.Advice[0].ID, "its link leads to the line")
}

func TestBothSidesOfARaceAreThere(t *testing.T) {
	r := two()
	r.Findings = []trace.Finding{race()}
	rows := pageOf(r, room{kernels: 9}).Kernels[0].Files[0].Rows
	require.Len(t, rows[5].Findings, 1)
	assert.Equal(t, []string{"no __syncthreads() between them"}, rows[5].Findings[0].Notes, "the picture says the first")
	require.Len(t, rows[3].Other, 1)
	text := written(t, r)
	assert.Contains(t, text, `The other side of <a href="#k0-kernels-cu-6">line 6</a>: thread (0,0,0) of block (0,0,0) wrote it here`)
	assert.Contains(t, text, "thread (1,0,0)")
	assert.Contains(t, text, "1 finding")
}

func written(t *testing.T, r Run) string {
	t.Helper()
	b, err := Page(r)
	require.NoError(t, err)
	return string(b)
}

func TestSourceIsEscapedAndNothingIsFetched(t *testing.T) {
	r := two()
	r.Case, r.Reason, r.Passed = "<b>x</b>", "<img src=x>\u202e", false
	text := written(t, r)
	assert.NotContains(t, text, "<script>alert")
	assert.Contains(t, text, "&lt;script&gt;alert(1)&lt;/script&gt;")
	assert.NotContains(t, text, "<img")
	assert.NotContains(t, text, "<b>x</b>")
	assert.Contains(t, text, "⟨U+202E⟩")
	assert.NotRegexp(t, regexp.MustCompile(`https?://|@import|url\(`), text)
	assert.Equal(t, 1, strings.Count(text, "<script"), "its own")
}

func TestAStoppedKernelHasItsPage(t *testing.T) {
	r := two()
	f := race()
	f.Fatal = true
	r.Passed, r.Reason, r.Moved, r.Counts, r.Findings = false, "stopped", 0, nil, []trace.Finding{f}
	text := written(t, r)
	assert.Contains(t, text, "a kernel was stopped before its end")
	assert.Contains(t, text, "race on shared memory")
	r.Findings = nil
	assert.Contains(t, written(t, r), "No kernel ran.")
}

func TestKernelsAreInTheOrderOfTheirBytes(t *testing.T) {
	r := two()
	more := r.Counts[0]
	more.Kernel, more.SectorsRead = "g", 2*more.SectorsRead
	r.Counts = append(r.Counts, more)
	p := pageOf(r, room{kernels: 1})
	assert.Equal(t, "g", p.Kernels[0].Name)
	assert.Equal(t, 1, p.Left)
	text := written(t, r)
	assert.Equal(t, 2, strings.Count(text, `role="tab"`))
	assert.Equal(t, text, written(t, r), "the same run, the same page")
}

func TestThePageIsBounded(t *testing.T) {
	r := two()
	r.Sources[0].Text += "\n" + strings.Repeat(strings.Repeat("x<", 300)+"\n", 20_000)
	for i := range 60 {
		c := r.Counts[0]
		c.Kernel = fmt.Sprintf("kernel%d", i)
		for n := range 100 {
			c.LineCounts = append(c.LineCounts, trace.LineCounts{File: "kernels.cu", Line: 40 * n, Op: "read", Requests: 1, Bytes: 4, Sectors: 1, Lanes: 1})
		}
		r.Counts = append(r.Counts, c)
	}
	for range 5000 {
		r.Findings = append(r.Findings, race())
	}
	assert.LessOrEqual(t, len(written(t, r)), MostBytes)
}

func TestNumbersInWords(t *testing.T) {
	for n, want := range map[uint64]string{7: "7", 12288: "12,288", 123456789: "123 M"} {
		assert.Equal(t, want, count(n))
	}
	for n, want := range map[uint64]string{768: "768 B", 1280: "1.2 KB", 12 << 10: "12 KB", 3 << 20: "3 MB"} {
		assert.Equal(t, want, bytesOf(n))
	}
	assert.Equal(t, "17", dims([3]int{17, 1, 1}))
	assert.Equal(t, "17 × 1 × 2", dims([3]int{17, 1, 2}))
}
