package page

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/grading/race"
	"flashlab/grader/tasks/registry"
)

// headline is a line of README's table: rows of the page that are told together.
type headline struct {
	name string
	task registry.Name
	rows []string // their ids, in the order of the name; a model's has its time behind it: "gpt2-1-512 TTFT"
	// narrow is the one peer of ours that computes in as few bits, where the others compute in more: wider says in how many.
	narrow, wider string
}

// headlines are README's table. Compressed caches (b7) are not in it: nobody else on the page has one.
var headlines = []headline{
	{name: "products NN and NT, 4096³", task: "2", rows: []string{"gemm_nn-1-4096-4096-4096", "gemm_nt-1-4096-4096-4096"}},
	{name: "softmax, rows of 1024 to 16,384", task: "2", rows: []string{"softmax-262144-1024", "softmax-131072-2048", "softmax-65536-4096", "softmax-32768-8192", "softmax-16384-16384"}},
	{name: "attention, batch 64, 32 heads × 128, 4096 tokens, full and causal", task: "4", rows: []string{"flash-64-4096-full", "flash-64-4096-causal"}},
	{name: "decoding, batch 16, 1024 to 32,768 tokens in the cache", task: "5",
		rows: []string{"decode-16-32-1024", "decode-16-32-2048", "decode-16-32-4096", "decode-16-32-8192", "decode-16-32-16384", "decode-16-32-32768"}},
	{name: "rotated attention, batch 16, 32 heads × 128, 4096 tokens, full and causal", task: "b1", rows: []string{"rope-16-4096-full", "rope-16-4096-causal"}},
	{name: "attention in halves, 16 heads × 128, 16,384 tokens, full and causal", task: "b2", rows: []string{"halves-1-16-16384-128-full", "halves-1-16-16384-128-causal"}},
	{name: "attention in halves, batch 4, 32 heads × 128, 4096 tokens, full and causal", task: "b2", rows: []string{"halves-4-32-4096-128-full", "halves-4-32-4096-128-causal"}},
	{name: "attention in INT8, batch 4, 32 heads × 128, 4096 tokens, full and causal", task: "b3", rows: []string{"int8-4-32-4096-128-full", "int8-4-32-4096-128-causal"},
		narrow: "SageAttention 1", wider: "in halves"},
	{name: "q, k and v by one projection in halves, 128 to 8192 rows", task: "b4", rows: []string{"qkv-1-128", "qkv-2-256", "qkv-4-512", "qkv-8-1024"}},
	{name: "NF4 weights, 4096 → 14,336, 1 and 16 rows", task: "b5", rows: []string{"project-nf4-1-4096-14336", "project-nf4-16-4096-14336"}},
	{name: "decoding in halves, 32 heads over 8, 4096 tokens, batch 1, 8 and 64", task: "b6", rows: []string{"decode16-1-4096", "decode16-8-4096", "decode16-64-4096"}},
	{name: "INT4 weights in groups, four shapes, 1 row", task: "b8", rows: []string{"w4a16-1-4096-4096", "w4a16-1-4096-14336", "w4a16-1-14336-4096", "w4a16-1-8192-8192"}},
	{name: "the same, 16 rows", task: "b8", rows: []string{"w4a16-16-4096-4096", "w4a16-16-4096-14336", "w4a16-16-14336-4096", "w4a16-16-8192-8192"}},
	{name: "the same, 64 rows", task: "b8", rows: []string{"w4a16-64-4096-4096", "w4a16-64-4096-14336", "w4a16-64-14336-4096", "w4a16-64-8192-8192"}},
	{name: "GPT-2 124M's shape, prompt of 512: first token, and each after it", task: "7", rows: []string{"gpt2-1-512 TTFT", "gpt2-1-512 TBT"}},
	{name: "GPT-2 124M's shape, each token after the first by [one kernel](nn/gpt2/persistent/README.md)", task: "7", rows: []string{"gpt2-1-512-one TBT"}},
	{name: "a 26 GB Llama-like model, batch 4, prompt of 1024: first token, and each after it", task: "6", rows: []string{"llama-4-1024 TTFT", "llama-4-1024 TBT"}},
	{name: "Llama 3.1 8B's shape in halves, each token after the first: batch 1 by [one kernel](nn/half/decoder/persistent/README.md), and 16", task: "b9",
		rows: []string{"llama8b-1-halves TBT", "llama8b-16-halves TBT"}},
	{name: "Llama 3.1 8B's shape with weights of four bits, each token after the first: batch 1 by one kernel", task: "b9", rows: []string{"llama8b-1-four TBT"}},
}

// less are baselines that do less than the workload: they bound it, and nobody can use them in its place.
var less = []string{"copy", "only reading halves", "the product in halves, cuBLAS"}

// isPeer tells whether someone could use an entry in place of ours, without taking more bits for it: rows of fewer bits
// show the same in float32 as well.
func isPeer(name string) bool {
	return !slices.Contains(less, name) && !strings.Contains(name, "in float32")
}

// foil is the strongest peer of a row.
type foil struct {
	name    string
	ratio   float64  // its time over ours
	missing []string // peers that were to be timed and were not
	not     string   // why there is none
}

// take keeps whoever is faster.
func (f *foil) take(name string, ratio float64) {
	if f.name == "" || ratio < f.ratio {
		f.name, f.ratio = name, ratio
	}
}

// done says so where nobody was timed.
func (f foil) done() foil {
	if f.name == "" && f.not == "" {
		f.not = "no peer was timed"
	}
	return f
}

// Why a headline is not shown.
const (
	changed = "the code has changed since"
	untimed = "nobody has timed it"
)

// foilOf finds the strongest peer of one of a headline's rows.
func (p Part) foilOf(id string, now current) foil {
	for _, r := range p.Rows {
		if r.ID == id {
			return rowFoil(r, now.Stale(p.Task, "", r.Kernels))
		}
	}
	for _, m := range p.Models {
		for _, l := range latencies {
			if id == m.ID+" "+l.name {
				return l.foil(m, m.stale(p.Task, now))
			}
		}
	}
	return foil{not: untimed}
}

func rowFoil(r race.Row, stale bool) (f foil) {
	switch {
	case stale:
		return foil{not: changed}
	case len(r.Entries) == 0 || r.Entries[0].Stats.N == 0 || r.Entries[0].Wrong != "":
		return foil{not: untimed}
	case r.Entries[0].Held != "" || r.Entries[0].Bare > 0:
		return foil{not: "the time has a remark on the page"}
	}
	for _, e := range r.Entries[1:] {
		if !isPeer(e.Name) {
			continue
		}
		if ratio := r.Ratio(e); ratio.N > 0 { // none where it was wrong
			f.take(e.Name, ratio.Median)
		} else {
			f.missing = append(f.missing, e.Name)
		}
	}
	return f.done()
}

func (l latency) foil(m Model, stale bool) (f foil) {
	switch {
	case stale:
		return foil{not: changed}
	case l.stats(m.Ours).N == 0:
		return foil{not: untimed}
	}
	for _, other := range m.beside() {
		if !l.both(m, other) || other.Differ != "" {
			f.missing = append(f.missing, other.Name)
			continue
		}
		ratio, _, _ := l.ratio(m, other)
		f.take(other.Name, ratio)
	}
	return f.done()
}

// foils are those of a headline's rows; the text says why it has none. One row that lacks its foil takes all with it.
func (h headline) foils(d Document, now current) (all []foil, not string) {
	i := slices.IndexFunc(d.Parts, func(p Part) bool { return p.Task == h.task })
	if i < 0 {
		return nil, untimed
	}
	for _, id := range h.rows {
		f := d.Parts[i].foilOf(id, now)
		if f.not != "" {
			return nil, f.not
		}
		if h.narrow != "" && f.name != h.narrow {
			f.name += " " + h.wider
		}
		all = append(all, f)
	}
	return all, ""
}

// line is a headline's line of the table.
func (h headline) line(all []foil) string {
	var names, missing []string
	var ratios []float64
	leads := 0
	for _, f := range all {
		if !slices.Contains(names, f.name) {
			names = append(names, f.name)
		}
		for _, name := range f.missing {
			if !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
		}
		ratios = append(ratios, f.ratio)
		if f.ratio < even {
			leads++
		}
	}
	beside := strings.Join(names, "; ")
	if len(missing) > 0 {
		beside += " (not timed: " + strings.Join(missing, ", ") + ")"
	}
	return fmt.Sprintf("| %s | %s | %s%s |\n", h.name, beside, several(ratios), led(leads, len(all)))
}

// even is the least ratio that is written as 1.00.
const even = 0.995

// digits are those of a ratio in the table.
func digits(ratio float64) string {
	if ratio >= 9.995 {
		return fmt.Sprintf("%.1f", ratio)
	}
	return fmt.Sprintf("%.2f", ratio)
}

func several(ratios []float64) string {
	switch len(ratios) {
	case 1:
		return digits(ratios[0])
	case 2:
		return digits(ratios[0]) + " and " + digits(ratios[1])
	}
	return digits(slices.Min(ratios)) + " to " + digits(slices.Max(ratios))
}

// led says plainly where a peer is faster.
func led(leads, all int) string {
	switch {
	case leads == 0:
		return ""
	case leads == all:
		return ": **the peer leads**"
	}
	return fmt.Sprintf(": **the peer leads** in %d of %d", leads, all)
}
