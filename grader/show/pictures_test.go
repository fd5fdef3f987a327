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

// columnOf is a warp's read of a column: s[lane][0] of float s[32][width].
func columnOf(width int) trace.BankRequest {
	r := trace.BankRequest{File: "kernels.cu", Line: 4, Op: "read", Bytes: 4, Array: "s", Dims: []int{32, width}, Element: 4}
	for lane := range r.Lanes {
		r.Lanes[lane] = int64(4 * width * lane)
	}
	r.Passes, _, _ = passesOf(r)
	return r
}

func sampled() Run {
	r := two()
	r.Shapes = []Shape{{"x", []int{2, 8}, 64}, {"long", []int{70_000}, 280_000}}
	warp := func(longest, lanes uint64) trace.WarpStretch {
		return trace.WarpStretch{Longest: longest, Requests: longest, Lanes: lanes}
	}
	apart := trace.WarpStretch{Longest: 10, Requests: 10, Lanes: 50, Apart: 31, File: "kernels.cu", Line: 6}
	r.Counts[0].Samples = &trace.Samples{
		Banks: []trace.BankRequest{columnOf(32)},
		Arrays: []trace.ArrayUse{{Name: "x", Bytes: 64, Part: 4, Runs: []trace.ArrayRun{{Parts: 8, Read: 1, Readers: 1}, {Parts: 8, Read: 4, Readers: 3, Written: 1, Writers: 1}}},
			{Name: "long", Bytes: 280_000, Part: 32, Runs: []trace.ArrayRun{{Parts: 8750, Read: 8, Readers: 1}}}},
		MoreArrays: true,
		Timeline:   &trace.Timeline{Block: 5, Threads: 64, File: "kernels.cu", Stretches: []trace.Stretch{{Line: 5, Warps: []trace.WarpStretch{warp(30, 960), warp(30, 960)}}, {Warps: []trace.WarpStretch{apart, warp(0, 0)}}}},
	}
	return r
}

func TestAColumnOf32IsInOneBank(t *testing.T) {
	b := gridOf(columnOf(32), "s[32][32]")
	assert.Equal(t, 32, b.Passes)
	assert.True(t, b.Bad)
	assert.Equal(t, "32 passes where 1 would do: lanes 0 to 31 ask for different words of one bank", b.Says)
	require.Len(t, b.Dots, 32)
	for i, d := range b.Dots {
		assert.Equal(t, dot{X: 0, Y: i, Wide: 1, Text: fmt.Sprint(i), Title: fmt.Sprintf("lane %d: [%d][0]", i, i), Bad: true}, d)
	}
	assert.Equal(t, "[31][0]", b.Rows[31])

	p := padded(columnOf(32), 32)
	require.NotNil(t, p)
	assert.Equal(t, []any{"reads s[32][33]", 1, false}, []any{p.Does, p.Passes, p.Bad})
	seen := map[int]bool{}
	for _, d := range p.Dots {
		seen[d.X] = true
	}
	assert.Len(t, seen, 32, "each lane has a bank of its own")
	assert.Nil(t, padded(columnOf(33), 1), "nothing to gain")
}

func TestPassesAreThoseOfTheSimulator(t *testing.T) {
	of := func(bytes int, at func(lane int) int64) (int, int) {
		r := trace.BankRequest{Bytes: bytes}
		for lane := range r.Lanes {
			r.Lanes[lane] = at(lane)
		}
		passes, least, _ := passesOf(r)
		return passes, least
	}
	for name, c := range map[string]struct {
		bytes, passes, least int
		at                   func(lane int) int64
	}{
		"one word for all":      {4, 1, 1, func(int) int64 { return 64 }},
		"every other word":      {4, 2, 1, func(l int) int64 { return int64(8 * l) }},
		"halves":                {2, 1, 1, func(l int) int64 { return int64(2 * l) }},
		"float4":                {16, 4, 4, func(l int) int64 { return int64(16 * l) }},
		"float4 of a column":    {16, 32, 4, func(l int) int64 { return int64(128 * l) }},
		"float2":                {8, 2, 2, func(l int) int64 { return int64(8 * l) }},
		"half of the lanes":     {4, 1, 1, func(l int) int64 { return int64(4*l) - int64(l/16)*1000 }},
		"rows of 40, in pairs":  {4, 4, 1, func(l int) int64 { return int64(160 * (l % 16)) }},
		"nobody but lane seven": {4, 1, 1, func(l int) int64 { return map[bool]int64{true: 28, false: -1}[l == 7] }},
	} {
		passes, least := of(c.bytes, c.at)
		assert.Equal(t, []int{c.passes, c.least}, []int{passes, least}, name)
	}
	assert.Equal(t, "0 to 31", list([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}))
	assert.Equal(t, "0, 8, 16, 24", list([]int{0, 8, 16, 24}))
	assert.Equal(t, "0, 2, 4, 6, …, 18", list([]int{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}))
}

func TestAnArrayAsAPicture(t *testing.T) {
	r := sampled()
	all, more := r.picturesOf(r.Counts[0])
	assert.True(t, more)
	require.Len(t, all, 3)
	long, read, written := all[0], all[1], all[2]
	assert.Equal(t, []any{"x", "read", "2 × 8", 8, 2, true}, []any{read.Name, read.Verb, read.Shape, read.W, read.H, read.Hot})
	assert.Equal(t, []shade{{1, "M0 0.5h8"}, {3, "M0 1.5h8"}}, read.Shades)
	assert.Equal(t, "words 1 to 4 ×, 2.5 on average, by up to 3 blocks", read.Says)
	assert.Equal(t, []shade{{0, "M0 0.5h8"}, {1, "M0 1.5h8"}}, written.Shades)
	assert.False(t, written.Hot)
	assert.Equal(t, []any{64, 64, "each word once, by one block"}, []any{long.W, long.H, long.Says})
	require.Len(t, long.Shades, 1)
	assert.Equal(t, 64, strings.Count(long.Shades[0].Path, "h64"), "no holes")
	for times, want := range map[float64]int{0: 0, 0.3: 1, 1: 1, 1.2: 2, 2: 2, 3: 3, 4: 3, 5: 4, 64: 7, 65: 8, 1e9: 8} {
		assert.Equal(t, want, levelOf(times), times)
	}
}

// Whatever the shape, a picture has few cells, and a part lands in each.
func TestPicturesHaveNoHoles(t *testing.T) {
	for _, c := range []struct{ rows, row, part int }{{1, 4, 4}, {1, 400, 4}, {1, 1 << 20, 64}, {17, 452, 4}, {113, 68, 4}, {300, 452, 16}, {1000, 4, 4}, {4096, 16384, 4096}, {70_000, 8, 64}, {3, 20_004, 8}, {2, 6, 4}} {
		a := trace.ArrayUse{Name: "a", Bytes: c.rows * c.row, Part: c.part, Runs: []trace.ArrayRun{{Parts: 1 << 20, Read: 1, Readers: 1}}}
		g := gridOfUse(a, c.rows, c.row, func(r trace.ArrayRun) (uint64, int) { return r.Read, r.Readers })
		assert.LessOrEqual(t, max(g.w, g.h), mostSide, c)
		holes := 0
		for i, words := range g.words {
			if words == 0 {
				holes++
				assert.True(t, c.rows == 1 && i >= len(g.words)-g.w || c.row < 8, "%v: a hole at %d of %d × %d", c, i, g.w, g.h)
			}
		}
		assert.Less(t, holes, g.w*g.h, c)
	}
}

func TestOneBlockAsBars(t *testing.T) {
	r := sampled()
	k := kernel{Name: "f"}
	line := k.timelineOf(r.Counts[0].Samples.Timeline)
	require.NotNil(t, line)
	require.Len(t, line.Bars, 3)
	assert.Equal(t, stretchBar{X: 0, Y: 0, Wide: 750, Tall: 14, Title: "warp 0: 30 steps"}, line.Bars[0])
	assert.True(t, line.Bars[2].Apart)
	assert.InDelta(t, 14*50.0/320, line.Bars[2].Tall, 1e-9, "50 of 320 steps are work")
	assert.Equal(t, []barrierMark{{750, 5, true}}, line.Barriers)
	assert.Contains(t, line.Says, "2 warps, 1 barrier: 77 % of the threads' time is work")
	assert.Equal(t, []parting{{"k0-kernels-cu-6", "kernels.cu:6", "as few as 5 of a warp's lanes come here together"}}, line.Parting)
	assert.Nil(t, k.timelineOf(nil))
	assert.Nil(t, k.timelineOf(&trace.Timeline{}))
}

func TestPicturesAreOnThePage(t *testing.T) {
	text := written(t, sampled())
	for _, want := range []string{`href="#banks0"`, `id="banks0"`, "reads s[32][32]", "reads s[32][33]", `id="arrays0"`, `class="hot"`, `id="time0"`, "Those with fewest accesses are left out", `<path class="v3" d="M0 1.5h8"`} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "ZgotmplZ")
	assert.NotContains(t, written(t, two()), `class="drawn"`, "nothing was sampled")
	evil := sampled()
	evil.Counts[0].Samples.Banks[0].Array, evil.Counts[0].Samples.Arrays[0].Name = "<script>1</script>", `"><script>2</script>`
	text = written(t, evil)
	assert.Equal(t, 1, strings.Count(text, "<script"))
	assert.NotRegexp(t, regexp.MustCompile(`https?://|@import|url\(`), text)
}

func TestACaseThatWasStoppedIsNeitherRightNorWrong(t *testing.T) {
	r := sampled()
	r.Passed, r.Stopped, r.Least, r.Reason = false, true, 0, "Kernels have run for 12s."
	text := written(t, r)
	assert.Contains(t, text, `<span class="pill">stopped</span>`)
	assert.Contains(t, text, "Kernels have run for 12s.")
	assert.Contains(t, text, "The whole case's bytes are not known.")
	assert.NotContains(t, text, `>right<`)
	assert.NotContains(t, text, `>wrong<`)
}
