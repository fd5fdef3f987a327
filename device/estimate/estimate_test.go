package estimate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/trace"
)

// copying reads and writes a gigabyte with 256 threads a block, a float4 each.
func copying() trace.Counts {
	const bytes, blocks = 1 << 30, 1 << 18
	return trace.Counts{Kernel: "copy", Launches: 1, Blocks: blocks, Ran: blocks, Threads: 256 * blocks, Held: 2 * bytes, GlobalRead: bytes, GlobalWritten: bytes,
		SectorsRead: bytes / sector, SectorsWritten: bytes / sector, SectorsMissed: bytes / sector, GlobalRequests: 2 * bytes / 512,
		DeviceRead: bytes, DeviceWritten: bytes, Steps: 4 * 256 * blocks, Instructions: 20 * 256 * blocks}
}

// No copy is faster than a card's memory, nor much slower; and a card with less of it takes longer.
func TestACopyIsBoundByDeviceMemory(t *testing.T) {
	before := 0.0
	for _, name := range []string{"H200", "H100", "A100", "RTX 4090"} {
		g, err := Find(name)
		require.NoError(t, err)
		e := g.Time(copying(), 1)
		least := 2 * float64(1<<30) / g.Device
		assert.Greater(t, e.Seconds, least, name)
		assert.Less(t, e.Seconds, 1.4*least, name)
		assert.Greater(t, e.Seconds, before, name)
		before = e.Seconds
	}
}

// A sample's counts are scaled: an eighth of the blocks, or of the sequences, says the same of the whole.
func TestASampleSaysTheSame(t *testing.T) {
	g, err := Find("H100")
	require.NoError(t, err)
	all, some, fewer := copying(), copying(), copying()
	for _, c := range []*trace.Counts{&some, &fewer} {
		for _, n := range []*uint64{&c.Ran, &c.GlobalRead, &c.GlobalWritten, &c.SectorsRead, &c.SectorsWritten, &c.SectorsMissed, &c.GlobalRequests, &c.DeviceRead,
			&c.DeviceWritten, &c.Steps, &c.Instructions} {
			*n /= 8
		}
	}
	fewer.Blocks, fewer.Threads, fewer.Held = fewer.Blocks/8, fewer.Threads/8, fewer.Held/8
	assert.InEpsilon(t, g.Time(all, 1).Seconds, g.Time(some, 1).Seconds, 1e-9)
	assert.InEpsilon(t, g.Time(all, 1).Seconds, g.Time(fewer, 8).Seconds, 1e-9)
}

// Each resource, if it is what a launch needs most, is what binds it, and twice as much of it takes longer.
func TestWhatBindsIsNamed(t *testing.T) {
	g, err := Find("H100")
	require.NoError(t, err)
	for bound, more := range map[string]func(c *trace.Counts, n uint64){
		"shared memory":     func(c *trace.Counts, n uint64) { c.SharedPasses += n << 32 },
		"instructions":      func(c *trace.Counts, n uint64) { c.FLOPs += n << 40 },
		"tensor cores":      func(c *trace.Counts, n uint64) { c.WarpGroups, c.WarpGroupSteps = n<<25, n<<32 },
		"the L2 cache":      func(c *trace.Counts, n uint64) { c.SectorsMissed += n << 33 },
		"device memory":     func(c *trace.Counts, n uint64) { c.DeviceRead, c.Held = n<<40, n<<40 },
		"latency":           func(c *trace.Counts, n uint64) { c.Barriers += n << 30 },
		"the launch itself": func(c *trace.Counts, n uint64) { *c = trace.Counts{Launches: 1, Blocks: 1, Ran: 1, Threads: 32} },
	} {
		once, twice := copying(), copying()
		more(&once, 1)
		more(&twice, 2)
		e, longer := g.Time(once, 1), g.Time(twice, 1)
		assert.Equal(t, bound, e.Bound)
		if bound != "the launch itself" {
			assert.Greater(t, longer.Seconds, 1.5*e.Seconds, bound)
		}
	}
}

func TestACardIsFoundByItsName(t *testing.T) {
	for name, want := range map[string]string{"h100": "H100", "NVIDIA H100 80GB HBM3": "H100", "NVIDIA A100-SXM4-80GB": "A100", "4090": "RTX 4090", "NVIDIA GeForce RTX 4090": "RTX 4090",
		"rtx4090": "RTX 4090", "NVIDIA H200": "H200"} {
		g, err := Find(name)
		if assert.NoError(t, err, name) {
			assert.Equal(t, want, g.Name, name)
		}
	}
	_, err := Find("T4")
	assert.EqualError(t, err, `no GPU of the name "T4" is known: there are H200, H100, A100, RTX 4090`)
}

func TestAnEstimateInWords(t *testing.T) {
	h200, _ := Find("H200")
	rtx, _ := Find("4090")
	assert.Equal(t, "about 830 µs on an H200, bound by shared memory", Whole{Seconds: 834e-6, Share: 1, Bound: "shared memory"}.Text(h200))
	assert.Equal(t, "about 4.2 ms on an RTX 4090, bound by instructions (not validated: no times of this card were at hand)", Whole{Seconds: 4.21e-3, Share: 1, Bound: "instructions"}.Text(rtx))
	lines := []Line{{File: "k.cu", Line: 62, Share: 0.414, Bound: "barriers"}, {File: "k.cu", Line: 3, Share: 0.2, Bound: "latency"}}
	assert.Equal(t, "about 830 µs on an H200 (± 3 % by the sample), 90 % of it in sums, bound by latency; 41 % of that at k.cu:62, where threads wait at the barrier",
		Whole{Seconds: 834e-6, Deviation: 0.03, Kernel: "sums", Share: 0.9, Bound: "latency", Lines: lines}.Text(h200))
	assert.Equal(t, "about 3.0 µs on an H200, bound by the launch itself", Whole{Seconds: 3e-6, Share: 1, Bound: byLaunch, Lines: lines}.Text(h200), "a line would say nothing")
	for seconds, text := range map[float64]string{2.5e-6: "2.5 µs", 31.4e-6: "31 µs", 99.6e-6: "100 µs", 0.0123: "12 ms", 0.9996: "1.0 s", 2: "2.0 s", 0.00099996: "1.0 ms"} {
		assert.Equal(t, text, Duration(seconds))
	}
}

// A kernel's time is shared out among the lines that ask for what binds it.
func TestTimeIsSharedOutAmongLines(t *testing.T) {
	g, _ := Find("H200")
	c := copying()
	c.LineCounts = []trace.LineCounts{
		{File: "k.cu", Line: 4, Op: "read", Requests: 1 << 21, Sectors: c.SectorsRead}, {File: "k.cu", Line: 5, Op: "write", Requests: 1 << 21, Sectors: c.SectorsWritten},
		{File: "k.cu", Line: 6, Op: "read", Shared: true, Requests: 100, Passes: 100}}
	c.LineSteps = []trace.LineSteps{{File: "k.cu", Line: 3, Steps: c.Steps}}
	lines := g.Lines(c, 1)
	require.Len(t, lines, 4)
	assert.Equal(t, []int{4, 5, 3, 6}, []int{lines[0].Line, lines[1].Line, lines[2].Line, lines[3].Line})
	assert.Equal(t, "device memory", lines[0].Bound)
	assert.InDelta(t, 0.5, lines[0].Share, 0.02)
	sum := 0.0
	for _, l := range lines {
		sum += l.Share
	}
	assert.InDelta(t, 1, sum, 1e-9)

	c.SharedPasses, c.LineCounts[2].Passes = 1<<32, 1<<32
	assert.Equal(t, Line{"k.cu", 6, g.Lines(c, 1)[0].Share, "shared memory"}, g.Lines(c, 1)[0])
	assert.Greater(t, g.Lines(c, 1)[0].Share, 0.9)
	assert.Empty(t, g.Lines(copying(), 1), "nothing is known of its lines")
}

// Fitting finds constants that other samples were made with, as far as the samples tell them.
func TestFittingFindsWhatTimesWereMadeWith(t *testing.T) {
	g, _ := Find("H100")
	truth := start
	truth[Device], truth[L2] = 0.7, 0.9
	var all []Sample
	for range 5 {
		s := Sample{Kernels: []trace.Counts{copying()}, Times: 1}
		s.Seconds, _ = truth.Predict(g, s)
		all = append(all, s)
	}
	found := Fit(g, all)
	got, _ := found.Predict(g, all[0])
	assert.InEpsilon(t, all[0].Seconds, got, 0.05)
}
