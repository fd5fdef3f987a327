package page

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/bench/kernels"
	"flashlab/grader/grading/peers"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

// twoRows are those of a headline of b2, with these times over ours for who ran.
func twoRows(full, causal map[string]float64) Document {
	row := func(id string, ratios map[string]float64) race.Row {
		r := race.Row{Workload: race.Workload{ID: id}, Kernels: "h", Entries: []race.Entry{entry("ours", 1e6)}}
		for _, name := range slices.Sorted(maps.Keys(ratios)) {
			e := entry(name, 1e6)
			for i := range e.Times { // exactly: neighbouring runs are compared
				e.Times[i] = ratios[name] * r.Entries[0].Times[i]
			}
			r.Entries = append(r.Entries, e)
		}
		return r
	}
	return Document{Parts: []Part{{Task: "b2", GPU: "A made-up GPU", Commit: "abc", Date: time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC),
		Rows: []race.Row{row("halves-4-32-4096-128-full", full), row("halves-4-32-4096-128-causal", causal)}}}}
}

const twoNamed = "| attention in halves, batch 4, 32 heads × 128, 4096 tokens, full and causal | "

func TestAHeadlineIsBesideTheStrongestPeer(t *testing.T) {
	wide := "unfused in float32, cuBLAS"
	for want, ratios := range map[string][2]map[string]float64{
		"FlashAttention-4 | 1.02 and 1.10 |":                                      {{"cuDNN": 1.2, "FlashAttention-4": 1.02, wide: 0.5}, {"FlashAttention-4": 1.1, "cuDNN": 1.11}},
		"FlashAttention-4; cuDNN | 1.02 and 0.98: **the peer leads** in 1 of 2 |": {{"cuDNN": 1.2, "FlashAttention-4": 1.02}, {"FlashAttention-4": 1.1, "cuDNN": 0.98}},
		"cuDNN | 0.99 and 0.50: **the peer leads** |":                             {{"cuDNN": 0.994}, {"cuDNN": 0.5}},
		"cuDNN | 1.00 and 20.0 |":                                                 {{"cuDNN": 0.996}, {"cuDNN": 20}},
	} {
		text := twoRows(ratios[0], ratios[1]).Headlines(code{})
		assert.Contains(t, text, twoNamed+want+"\n")
		assert.Contains(t, text, "A made-up GPU, commit abc, 3 February 2001; float32 unless")
	}
	assert.Equal(t, "0.91 to 4.00: **the peer leads** in 1 of 3", several([]float64{4, 0.91, 2})+led(1, 3))
}

func TestAHeadlineIsShownOrItsLackIsTold(t *testing.T) {
	both := func() Document {
		return twoRows(map[string]float64{"cuDNN": 2, "FlashAttention-4": 3}, map[string]float64{"cuDNN": 2, "FlashAttention-4": 3})
	}
	require.Contains(t, both().Headlines(code{}), twoNamed+"cuDNN | 2.00 and 2.00 |")
	for _, c := range []struct {
		want   string
		change func(r *race.Row)
	}{
		{changed, func(r *race.Row) { r.Kernels = "g" }},
		{changed, func(r *race.Row) { r.Kernels = "" }},
		{untimed, func(r *race.Row) { r.ID = "another" }},
		{"the time has a remark on the page", func(r *race.Row) { r.Entries[0].Held = "impossible" }},
		{"no peer was timed", func(r *race.Row) { r.Entries = r.Entries[:1] }},
	} {
		for i := range 2 { // one of two is enough
			d := both()
			c.change(&d.Parts[0].Rows[i])
			text := d.Headlines(code{})
			assert.NotContains(t, text, twoNamed)
			assert.NotContains(t, text, "2.00", c.want)
		}
		d := both()
		d.Put(madeUp(t).Parts[0]) // so that something else is shown
		c.change(&d.Parts[len(d.Parts)-1].Rows[1])
		text := d.Headlines(code{})
		assert.Regexp(t, `(?m)^Not shown, because `+c.want+`: .*attention in halves, batch 4, `, text)
	}
	d := both()
	i := slices.IndexFunc(d.Parts[0].Rows[0].Entries, func(e race.Entry) bool { return e.Name == "FlashAttention-4" })
	d.Parts[0].Rows[0].Entries[i] = race.Entry{Name: "FlashAttention-4", Not: "not installed"}
	assert.Contains(t, d.Headlines(code{}), twoNamed+"cuDNN (not timed: FlashAttention-4) | 2.00 and 2.00 |", "a stronger one may be missing, and is told")
	d = both()
	d.Parts[0].Rows[0].Entries[i].Wrong = "off by 0.1"
	assert.Contains(t, d.Headlines(code{}), "cuDNN (not timed: FlashAttention-4) | 2.00")
	assert.Contains(t, Document{}.Headlines(code{}), "No figure is shown here")
}

func TestAModelsHeadlinesAreBesideTheFasterProgram(t *testing.T) {
	d := madeUp(t)
	m := &d.Parts[len(d.Parts)-1].Models[0]
	m.ID = "llama-4-1024"
	text := d.Headlines(code{})
	assert.Regexp(t, `26 GB Llama-like model, .* \| PyTorch compiled \| 1\.5\d? and [12]\.\d+ \|`, text)
	m.Others[0].Differ = "writes another token"
	assert.Regexp(t, `26 GB .* \| PyTorch eager, in a CUDA graph \(not timed: PyTorch compiled\) \| [12]\.\d+ and [23]\.\d+ \|`, d.Headlines(code{}))
	assert.NotContains(t, d.Headlines(code{changed: "6"}), "PyTorch eager")
}

func TestTheReadmesPictureIsOfTheCodeThatIsHere(t *testing.T) {
	assert.Contains(t, madeUp(t).Headlines(code{}), "](docs/length.svg)")
	assert.NotContains(t, madeUp(t).Headlines(code{changed: "4"}), "](docs/length.svg)")
	assert.NotContains(t, twoRows(map[string]float64{"cuDNN": 2}, map[string]float64{"cuDNN": 2}).Headlines(code{}), "](docs/length.svg)")
}

// TestWhoIsAPeer: the rules by names hold for all baselines and peers that there are.
func TestWhoIsAPeer(t *testing.T) {
	var bounds []string
	for _, op := range rooms.Ops {
		if op.Timed == nil {
			continue
		}
		if op.Timed.Wide != "" {
			assert.False(t, isPeer(op.Timed.Wide), op.Name)
		}
		if !isPeer(op.Timed.Baseline) {
			assert.True(t, op.Timed.BaselineElsewhere, "%s: %q does all of the work", op.Name, op.Timed.Baseline)
			bounds = append(bounds, op.Timed.Baseline)
		} else if op.Timed.BaselineElsewhere { // such as a copy: does anybody get by with it?
			assert.Equal(t, "weights in halves, cuBLAS", op.Timed.Baseline, op.Name)
		}
	}
	for _, name := range less {
		assert.Contains(t, bounds, name, "no operation has it")
	}
	for _, kind := range peers.Kinds {
		assert.True(t, isPeer(kind.Name), kind.Name)
	}
}

// TestTheReadmesTable is what the committed JSON says of the code that is here; README has no other ratio.
func TestTheReadmesTable(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	now, err := kernels.Read(root, tasks)
	require.NoError(t, err)
	d, err := Load(filepath.Join(root, "docs"))
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(root, readmeName))
	require.NoError(t, err)
	readme := string(data)
	filled, err := d.fillReadme(readme, now)
	require.NoError(t, err)
	assert.True(t, readme == filled, "README.md's table is not what docs/reference.json says of the code that is here: make page writes it again")
	before, rest, _ := strings.Cut(readme, headlinesAre)
	_, after, _ := strings.Cut(rest, headlinesEnd)
	assert.Empty(t, regexp.MustCompile(`\d[\d.]* ?(×|times as (fast|long))`).FindAllString(before+after, -1), "a figure that no page backs")
}

func TestTheReadmeIsWrittenBetweenItsMarkers(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, readmeName)
	d := twoRows(map[string]float64{"cuDNN": 2}, map[string]float64{"cuDNN": 2})
	for _, bad := range []string{"no markers", headlinesEnd + headlinesAre} {
		require.NoError(t, os.WriteFile(file, []byte(bad), 0o644))
		_, err := d.WriteReadme(root, code{})
		assert.ErrorContains(t, err, "are not both there")
	}
	require.NoError(t, os.WriteFile(file, []byte("a\n"+headlinesAre+"\nold\n"+headlinesEnd+"\nb\n"), 0o644))
	changed, err := d.WriteReadme(root, code{})
	require.NoError(t, err)
	assert.True(t, changed)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "a\n"+headlinesAre+"\n"+d.Headlines(code{})+headlinesEnd+"\nb\n", string(text))
	changed, err = d.WriteReadme(root, code{})
	require.NoError(t, err)
	assert.False(t, changed)
}

func TestAPageTellsWhichTasksItsRunDidNotComeTo(t *testing.T) {
	d := madeUp(t)
	missing := d.Parts[len(d.Parts)-1]
	d.Parts, d.Lacks = d.Parts[:len(d.Parts)-1], []registry.Name{missing.Task}
	told := "**Task " + string(missing.Task) + " is not on this page**"
	assert.Contains(t, d.Page(code{}), told)
	d.Put(missing)
	assert.NotContains(t, d.Page(code{}), told)
}

func TestPartsBecomeAPage(t *testing.T) {
	dir := t.TempDir()
	d := madeUp(t)
	for _, p := range d.Parts {
		require.NoError(t, Document{Parts: []Part{p}}.Write(filepath.Join(dir, string(p.Task)), code{}))
	}
	all, err := ReadParts(dir)
	require.NoError(t, err)
	assert.Empty(t, all.Parts, "no parts are there")
	require.NoError(t, os.WriteFile(filepath.Join(dir, PartFile("2")), []byte(`{"Task": "2", "Commit": "abc"}`), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, PartFile("b1")), []byte(`{"Task": "b1", "Commit": "abc"}`), 0o644))
	all, err = ReadParts(dir)
	require.NoError(t, err)
	require.Len(t, all.Parts, 2)
	assert.EqualValues(t, "b1", all.Parts[1].Task)
	for name, text := range map[string]string{"half a file": `{"Task": "4"`, "another task's": `{"Task": "5"}`} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, PartFile("4")), []byte(text), 0o644))
		_, err = ReadParts(dir)
		assert.ErrorContains(t, err, "part-4.json is not a part", name)
	}
}
