package nvidia

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Profile is one kernel of a run: its longest launch, and how many there were.
type Profile struct {
	Launch
	Launches int
	Total    float64 // nanoseconds of all launches
}

// Profiles gathers launches by kernel, the one that took longest first.
func Profiles(launches []Launch) []Profile {
	var all []Profile
	for _, l := range launches {
		i := slices.IndexFunc(all, func(p Profile) bool { return p.Kernel == l.Kernel })
		if i < 0 {
			i, all = len(all), append(all, Profile{Launch: l})
		}
		all[i].Launches++
		all[i].Total += l.Values[elapsed]
		if l.Values[elapsed] > all[i].Values[elapsed] {
			all[i].Launch = l
		}
	}
	slices.SortStableFunc(all, func(a, b Profile) int { return cmp.Compare(b.Total, a.Total) })
	return all
}

// Row is one line of a profile's table: what, how much, and what it means.
type Row struct{ Name, Value, Note string }

// stall is a reason to wait, and its share of the warps' time.
type stall struct {
	why   string
	share float64
}

// Rows are the table.
func (p Profile) Rows() []Row {
	v := p.Values
	seconds := v[elapsed] / 1e9
	bytes := v[dramRead] + v[dramWritten]
	flops := v[adds] + v[products] + 2*v[fused]
	rows := []Row{
		{"time", duration(v[elapsed]), fmt.Sprintf("%.0f blocks of %.0f threads", v[blocks], v[threads])},
		{"device memory", fmt.Sprintf("%s read, %s written", size(v[dramRead]), size(v[dramWritten])), fmt.Sprintf("%s, %.0f %% of the memory's peak", per(bytes, seconds, "B/s"), v[dramShare])},
		{"arithmetic", fmt.Sprintf("%s float32 operations", scaled(flops, "")), per(flops, seconds, "FLOP/s")},
		{"multiprocessors", fmt.Sprintf("%.0f %% of their peak", v[smShare]), "the busiest of their units"},
	}
	if v[tensorShare] >= 0.5 {
		rows = append(rows, Row{"tensor cores", fmt.Sprintf("busy %.0f %% of the time", v[tensorShare]), "their operations are not among the float32 ones"})
	}
	rows = append(rows,
		Row{"warps", fmt.Sprintf("%.0f %% of what fits", v[occupancy]), p.occupancyNote()},
		Row{"registers", fmt.Sprintf("%.0f a thread", v[registers]), p.spills()},
		Row{"shared memory", size(v[sharedStatic]+v[sharedDynamic]) + " a block", p.banks()},
	)
	var words []string
	for _, s := range p.stalls(2) {
		words = append(words, fmt.Sprintf("%s (%.0f %%)", s.why, s.share))
	}
	if len(words) > 0 {
		rows = append(rows, Row{"warps wait", words[0], strings.Join(words[1:], "")})
	}
	return rows
}

// occupancyNote tells what keeps more blocks from running at a time.
func (p Profile) occupancyNote() string {
	var least []string
	most := 0.0
	for key, words := range limits {
		switch n, ok := p.Values[limitOf+key]; {
		case !ok || n == 0:
		case len(least) == 0 || n < most:
			least, most = []string{words}, n
		case n == most:
			least = append(least, words)
		}
	}
	if len(least) == 0 {
		return ""
	}
	slices.Sort(least)
	return fmt.Sprintf("%.0f %% is possible: %.0f blocks at a time on a multiprocessor, by %s", p.Values[possible], most, strings.Join(least, " and "))
}

func (p Profile) spills() string {
	if p.Values[localRead] > 0 {
		return "and " + size(p.Values[localRead]) + " read from local memory: arrays or registers that did not fit"
	}
	return ""
}

func (p Profile) banks() string {
	if p.Values[wavefronts] == 0 {
		return ""
	}
	return fmt.Sprintf("bank conflicts: %.0f %% of its passes", 100*p.conflictShare())
}

func (p Profile) conflictShare() float64 {
	if p.Values[wavefronts] == 0 {
		return 0
	}
	return p.Values[conflicts] / p.Values[wavefronts]
}

// stalls are the n largest.
func (p Profile) stalls(n int) []stall {
	var all []stall
	for key, words := range stalls {
		if share := p.Values[stalled+key+stalledShare]; share >= 5 {
			all = append(all, stall{words, share})
		}
	}
	slices.SortFunc(all, func(a, b stall) int { return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.why, b.why)) })
	return all[:min(n, len(all))]
}

// What counts as busy, and as a lot.
const (
	busy          = 60.0 // percent of a peak
	idle          = 40.0
	full          = 0.9 // of the blocks that fit at a time
	manyConflicts = 0.1 // of the passes
)

// Words say what to make of it, in a few sentences.
func (p Profile) Words() []string {
	v := p.Values
	var words []string
	switch {
	case v[dramShare] >= busy && v[dramShare] >= v[smShare]:
		words = append(words, "It is bound by device memory. It gets faster by moving fewer bytes: larger tiles, and what is read once used more often.")
	case v[smShare] >= busy:
		words = append(words, "It is bound by the multiprocessors. Fewer instructions for the same work help: wider loads, more results a thread, tensor cores.")
	case v[dramShare] < idle && v[smShare] < idle && v[waves] > 0 && v[waves] < full:
		words = append(words, fmt.Sprintf("The GPU is not full: %.0f blocks fill %.0f %% of it. Smaller tiles, or splitting the work along another dimension, give more of them.", v[blocks], 100*v[waves]))
	case v[dramShare] < idle && v[smShare] < idle:
		words = append(words, "Neither memory nor arithmetic is busy: the warps wait. More of them at a time, or more loads under way in each, would fill the time.")
	}
	if share := p.conflictShare(); share >= manyConflicts {
		words = append(words, fmt.Sprintf("%.0f %% of the passes through shared memory are bank conflicts: threads of a warp that use different rows of the same bank. Padding a row by one element, or a swizzle, takes them apart.", 100*share))
	}
	if v[localRead] > 0 {
		words = append(words, "Some of a thread's values live in device memory. An index that is known when compiling (#pragma unroll), or fewer values a thread, keeps them in registers.")
	}
	if first := p.stalls(1); len(first) > 0 && first[0].share >= idle && first[0].why == stalls["barrier"] {
		words = append(words, "Much of the time goes by at barriers: more work between two of them, or blocks of fewer warps.")
	}
	return words
}

func duration(ns float64) string {
	switch {
	case ns >= 1e6:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	case ns >= 1e3:
		return fmt.Sprintf("%.3g µs", ns/1e3)
	}
	return fmt.Sprintf("%.0f ns", ns)
}

func size(bytes float64) string { return scaled(bytes, "B") }

func per(amount, seconds float64, unit string) string {
	if seconds <= 0 {
		return ""
	}
	return scaled(amount/seconds, unit)
}

// scaled writes a number with a prefix of a thousand.
func scaled(x float64, unit string) string {
	for _, p := range []struct {
		of   float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if x >= p.of {
			return strings.TrimSpace(fmt.Sprintf("%.3g %s%s", x/p.of, p.name, unit))
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%.0f %s", x, unit))
}
