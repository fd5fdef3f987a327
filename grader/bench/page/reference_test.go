package page

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/bench"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/timing"
	"flashlab/grader/tasks/registry"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

// around makes up a sample of times, in nanoseconds.
func around(ns float64, n int) []float64 {
	random := rand.New(rand.NewPCG(1, uint64(ns)))
	x := make([]float64, n)
	for i := range x {
		x[i] = ns * (1 + 0.02*(random.Float64()-0.5))
	}
	return x
}

func entry(name string, ns float64) race.Entry {
	t := around(ns, 15)
	return race.Entry{Name: name, Times: t, Stats: timing.Describe(t), Error: 0.2, Worst: 4e-7, Usual: 3e-7}
}

var quiet = race.SelfTest{Device: device.Info{Name: "A made-up GPU"}, Library: "cuBLAS 1.2.3",
	Limits: device.Limits{FLOPS: 67e12, Bandwidth: 3.35e12, Tensor: 990e12}, Copy: timing.Describe([]float64{3e12}), Adds: timing.Describe([]float64{60e12}),
	Read: timing.Describe([]float64{3.2e12}), Tensor: timing.Describe([]float64{800e12})}

// code is what is here in these tests: every solution has the hash "h", its versions "h/1_rows" and so on.
type code struct{ changed string } // a task whose code has another

func (c code) Solution(task registry.Name, version string) string {
	if string(task) == c.changed {
		return "other"
	}
	if version == "" {
		return "h"
	}
	return "h/" + version
}

func (c code) Model(task registry.Name) string { return c.Solution(task, "model") }

// madeUp is a document with something of everything.
func madeUp(t *testing.T) (d Document) {
	t.Helper()
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	for _, one := range tasks[:6] {
		table, err := bench.Table(one)
		require.NoError(t, err)
		p := Part{Task: one.Name, Title: "Made up", Date: time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC), Commit: "abc", Go: "go1.26", Seed: 7, Test: quiet,
			Before: stateOf("GPU-0619416a-8689-93d0-30cc-496bc5dc4e74, 580.1, 1980, 2619, 35, 110.5\n"), After: State{Not: "nvidia-smi does not tell"}, Peer: "PyTorch 9"}
		for i, w := range table {
			op, c, err := w.Case(rooms.Ops, false)
			require.NoError(t, err)
			work := race.WorkOf(op, c)
			least := max(work.FLOPS/60e3, work.Bytes/3e3) // nanoseconds
			row := race.Row{Workload: w, Work: work, Tensor: op.Timed.Tensor, Kernels: "h", Entries: []race.Entry{entry("ours", 1.2*least), entry("unfused, cuBLAS", 3*least)}}
			for j, peer := range w.Peers {
				row.Entries = append(row.Entries, entry(peer, float64(j+1)*1.1*least))
			}
			if i == 0 {
				row.Entries[1].Held = "impossible | time"
			}
			p.Rows = append(p.Rows, row)
		}
		if len(p.Rows) > 0 {
			for _, name := range []string{"1_rows", ""} { // on two workloads each, as they are measured
				for _, r := range p.Rows[:2] {
					if name == "" {
						r.Entries = []race.Entry{entry("ours", r.Entries[0].Stats.Median/2), r.Entries[1]}
					}
					if name != "" {
						r.Kernels = "h/" + name
					}
					p.Versions = append(p.Versions, Version{Name: name, Row: r})
				}
			}
			d.Put(p)
		}
	}
	d.Put(Part{Task: "6", Title: "Models", Commit: "abc", Before: d.Parts[0].Before, Models: []Model{
		{Name: "a model", ID: "model-1-2", Kernels: "h/model", Others: []Other{{Name: "PyTorch compiled", Times: []Times{{First: around(1.5e9, 5), Each: around(2e7, 20)}}}},
			Ours: []Times{{First: around(1e9, 5), Each: around(1e7, 20)}}, Theirs: []Times{{First: around(2e9, 5), Each: around(3e7, 20)}}},
		{Name: "another", Kernels: "h/model", Ours: []Times{{First: around(1e9, 5), Each: around(1e7, 20)}}, Not: "there is no python3"},
	}})
	return d
}

func TestThePageComesFromTheJSON(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "docs")
	d := madeUp(t)
	require.NoError(t, d.Write(dir, code{}))
	again, err := Load(dir)
	require.NoError(t, err)
	assert.Equal(t, d, again)
	page := again.Page(code{})
	written, err := os.ReadFile(filepath.Join(dir, pageName))
	require.NoError(t, err)
	assert.Equal(t, page, string(written))
	for _, says := range []string{
		"A made-up GPU, card 0619416a, driver 580.1, cuBLAS 1.2.3; 3 February 2001, 04:05 UTC, commit abc, go1.26, seed 7.",
		"Before: clocks 1980 and 2619 MHz, 35 °C, 110 W. After: nvidia-smi does not tell.",
		"Beside it: PyTorch 9.", "attention, batch 64, 32 heads × 128, sequence 4096, causal", "**2.5", "TB/s | 8", "TFLOP/s", "| 3.0e-07 |",
		"held for review: impossible / time", "| version 1, rows |", "| graded |", "| a model | TTFT | ours | 1.0", "**3.0", "there is no python3",
		"The machine is quiet enough to judge.", "![Roofline](roofline.svg)",
	} {
		assert.Contains(t, page, says)
	}
}

func TestAModelsRatesAreOfWhatItHasToDo(t *testing.T) {
	c := Model{Name: "a model", Ours: []Times{{First: []float64{1e9}, Each: []float64{1e7}}}, Theirs: []Times{{First: []float64{2e9}, Each: []float64{2e7}}},
		Work: Work{Prompt: 45e12, Token: 27e9}, Agreement: Agreement{Tokens: 3, Same: 3}}
	p := Part{Test: race.SelfTest{Copy: timing.Describe([]float64{3e12}), Tensor: timing.Describe([]float64{180e12})}, Models: []Model{c}}
	for _, says := range []string{"| 45.00 TFLOP/s | 75 % | |", "| 22.50 TFLOP/s | 38 % | **2.00** (2.00 to 2.00) |", "| 2.70 TB/s | 90 % | |", "| 1.35 TB/s | 45 % | **2.00** (2.00 to 2.00) |"} {
		assert.Contains(t, p.ModelTable(), says)
	}
	for _, line := range strings.Split(strings.TrimSpace(p.ModelTable()), "\n") {
		if strings.HasPrefix(line, "|") {
			assert.Equal(t, 8, strings.Count(line, "|"), line)
		}
	}
}

func TestVersionsHaveATableForEachWorkload(t *testing.T) {
	var p Part
	for _, p = range madeUp(t).Parts {
		if p.Task == "5" {
			break
		}
	}
	var s strings.Builder
	p.versions(&s, current{code{}})
	tables := strings.Split(strings.TrimSpace(s.String()), "The versions of the solution, on ")
	require.Len(t, tables, 3)
	for i, table := range tables[1:] {
		lines := strings.Split(strings.TrimSpace(table), "\n")
		assert.Equal(t, p.Rows[i].Name+":", lines[0])
		require.Len(t, lines, 6)
		assert.Contains(t, lines[4], "| version 1, rows | ")
		assert.Contains(t, lines[4], "TB/s |  |  |")
		assert.Regexp(t, `^\| graded \| .* TB/s \| (2\.0|1\.9)\d \| (2\.0|1\.9)\d \|$`, lines[5])
	}
	p.Versions = p.Versions[:2] // one version on two workloads is no comparison
	s.Reset()
	p.versions(&s, current{code{}})
	assert.Empty(t, s.String())
}

func TestWhatIsNotMeasuredIsSaid(t *testing.T) {
	assert.Contains(t, Document{}.Page(code{}), "Not measured yet.")
	d := Document{}
	d.Put(Part{Task: "4", Test: race.SelfTest{Not: "needs a GPU"}, NoPeer: "there is no GPU", Rows: []race.Row{
		{Workload: race.Workload{Name: "one"}, Entries: []race.Entry{{Name: "ours", Not: "needs a GPU", Worst: 1e-7}, {Name: "bad", Wrong: "a | b"}}},
		{Workload: race.Workload{Name: "two"}, Left: "it died"},
	}})
	page := d.Page(code{})
	for _, says := range []string{"self-test: not measured: needs a GPU", "not measured: needs a GPU |", "wrong: a / b", "not run: it died", "PyTorch was not compared with"} {
		assert.Contains(t, page, says)
	}
	assert.NotContains(t, page, ".svg", "there is nothing to draw")
}

func TestAnEarlierRunIsRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "other.json")
	_, err := Read(file)
	assert.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(file, []byte("times: none"), 0o644))
	_, err = Read(file)
	assert.ErrorContains(t, err, "is not what `make bench DOCS=1` writes")
	dir := t.TempDir()
	d, err := Load(dir)
	require.NoError(t, err, "nothing at all is an empty document")
	assert.Empty(t, d.Parts)
	require.NoError(t, madeUp(t).Write(dir, code{}))
	d, err = Read(filepath.Join(dir, jsonName))
	require.NoError(t, err)
	assert.NotEmpty(t, d.Parts)
}

func TestARunReplacesItsTask(t *testing.T) {
	var d Document
	for _, task := range []registry.Name{"5", "2", "5"} {
		d.Put(Part{Task: task, Seed: uint64(len(d.Parts))})
	}
	require.Len(t, d.Parts, 2)
	assert.EqualValues(t, "2", d.Parts[0].Task)
	assert.EqualValues(t, 2, d.Parts[1].Seed)
}

func TestPicturesAreDrawn(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	dir := os.Getenv("FLASHLAB_PICTURES") // to look at them
	if dir == "" {
		dir = t.TempDir()
	}
	d := madeUp(t)
	var labels []string // no peer, no ratio
	for _, bar := range pictures(d)[0].Bars {
		if bar.Name == Eager {
			labels = append(labels, bar.Label)
		}
	}
	assert.Subset(t, labels, []string{"model-1-2-ttft", "model-1-2-tbt"})
	assert.NotContains(t, strings.Join(labels, " "), "another")
	require.NoError(t, d.Draw(context.Background(), root, dir))
	for _, name := range []string{"speedup", "roofline", "length", "context"} {
		for _, kind := range []string{".svg", ".png"} {
			info, err := os.Stat(filepath.Join(dir, name+kind))
			if assert.NoError(t, err) {
				assert.Greater(t, info.Size(), int64(2000), name)
			}
		}
	}
}

func TestTheSameBenchTwice(t *testing.T) {
	d := madeUp(t)
	part := func() (p Part) {
		for _, p := range madeUp(t).Parts {
			if p.Task == "4" {
				return p
			}
		}
		return p
	}
	assert.Contains(t, d.Compare(part()), "at most 0.0 % apart")
	slower := part()
	e := &slower.Rows[1].Entries[1]
	for i := range e.Times {
		e.Times[i] *= 1.04
	}
	assert.Contains(t, d.Compare(slower), "at most 4.0 % apart ("+slower.Rows[1].ID+" beside unfused, cuBLAS: ")
	assert.Contains(t, d.Compare(slower), "Beside the run of 3 February 2001, 04:05 UTC (commit abc): ")
	moved := part()
	assert.False(t, d.Elsewhere(moved))
	moved.Before.Card = "21f30ce4"
	assert.True(t, d.Elsewhere(moved))
	assert.Contains(t, d.Compare(moved), "(commit abc, on another card): ")
	moved.Before.Card = ""
	assert.False(t, d.Elsewhere(moved), "not known to be another")
	_, same := d.Pairs(part())
	assert.Equal(t, fmt.Sprintf("%d of %d ratios within 3 %%", len(same), len(same)), Again(same))
	_, twice := d.Pairs(slower)
	text := Again(twice)
	assert.Contains(t, text, fmt.Sprintf("%d of %d ratios within 3 %%", len(same)-1, len(same)))
	assert.Contains(t, text, "   +4.0 %  "+slower.Rows[1].ID+" beside unfused, cuBLAS\n")
	assert.Equal(t, 3, len(strings.Split(text, "\n")), "a title, one row, and the sum")

	models := d.Parts[len(d.Parts)-1]
	models.Models = slices.Clone(models.Models)
	models.Models[0].Theirs = []Times{{First: around(2e9, 5), Each: around(2e7, 20)}}
	_, twice = d.Pairs(models)
	require.Len(t, twice, 4, "two beside each of two; the other model has no peer")
	assert.Contains(t, Again(twice), "  -33.")
	assert.Contains(t, Again(twice), "a model, TBT beside "+Eager)
	assert.Contains(t, Again(twice), "3 of 4 ratios")
	assert.Equal(t, "The two runs have no ratio in common.", Again(nil))

	assert.Empty(t, d.Compare(Part{Task: "9"}))
	assert.Empty(t, d.Compare(Part{Task: "4"}), "nothing was measured")
}

func TestPicturesHaveANameForEachOperation(t *testing.T) {
	d, err := Load("../../../docs")
	require.NoError(t, err)
	require.NotEmpty(t, d.Parts)
	d.rows(func(r race.Row, _ race.SelfTest) {
		assert.NotEqual(t, r.Op, family(r.Op), "of %s", r.ID)
	})
}
