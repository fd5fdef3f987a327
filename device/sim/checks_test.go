package sim

import (
	_ "embed"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
)

//go:embed testdata/bugs.cu
var bugs string

//go:embed testdata/clean.cu
var clean string

// run launches one kernel of a file with 64 threads a block: x and y hold 256
// floats, of which x is written; int parameters get n.
func run(t *testing.T, d *Device, text, name string, blocks int) (*trace.Report, error) {
	t.Helper()
	require.NoError(t, d.Reset())
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: text})
	require.NoError(t, err)
	k, err := m.Kernel(name)
	require.NoError(t, err)
	var args []any
	for _, p := range k.Signature().Params {
		switch {
		case p.Kind == device.Int:
			args = append(args, 0)
			if strings.Contains(name, "second_barrier") {
				args[len(args)-1] = 4
			}
		case p.Elem == "int":
			b, err := device.Upload(d, p.Name, make([]int32, 256))
			require.NoError(t, err)
			args = append(args, b)
		case p.Name == "fresh":
			b, err := device.Alloc[float32](d, p.Name, 256)
			require.NoError(t, err)
			args = append(args, b)
		default:
			data := make([]float32, 256)
			if p.Elem == "" {
				data = data[:256]
			}
			for i := range data {
				data[i] = float32(i)
			}
			b, err := device.Upload(d, p.Name, data)
			require.NoError(t, err)
			args = append(args, b)
		}
	}
	launchErr := d.Launch(k, device.Launch{Grid: device.D1(blocks), Block: device.D1(64)}, args...)
	r, err := d.Report()
	require.NoError(t, err)
	return r, launchErr
}

var wanted = regexp.MustCompile(`// want: (.*)$`)

// wants lists kernel → the line and kind of its finding.
func wants(text string) map[string]trace.Finding {
	all := map[string]trace.Finding{}
	sigs := device.ScanKernels(text)
	for i, line := range strings.Split(text, "\n") {
		if m := wanted.FindStringSubmatch(line); m != nil {
			var in string
			for _, s := range sigs {
				if s.Line <= i+1 {
					in = s.Name
				}
			}
			all[in] = trace.Finding{Line: i + 1, Kind: m[1]}
		}
	}
	return all
}

func TestPlantedBugsAreFoundAtTheirLines(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) { findPlantedBugs(t, compiler, false) })
}

func findPlantedBugs(t *testing.T, compiler string, unroll bool) {
	d := start(t, Options{Checks: AllChecks(), MaxSteps: 200_000, Timeout: 500 * time.Millisecond, Compiler: compiler, Unroll: unroll})
	want := wants(bugs)
	require.Len(t, want, len(device.ScanKernels(bugs)), "every kernel of bugs.cu has one planted bug")
	for name, w := range want {
		blocks := 5 // 320 threads: more than the 256 elements
		if w.Kind == "race" || w.Kind == "uninitialised" {
			blocks = 2
			if strings.Contains(name, "barrier") || name == "warp_race" || strings.Contains(name, "unwritten") {
				blocks = 1
			}
		}
		r, err := run(t, d, bugs, name, blocks)
		var kinds []string
		found := false
		for _, f := range r.Findings {
			kinds = append(kinds, f.Headline())
			if f.Kind == w.Kind && (f.Line == w.Line || nearby(f, w, compiler)) {
				found = true
				assert.Equal(t, f.Fatal, err != nil, "%s: a fatal finding is an error of Launch: %v", name, err)
			}
		}
		assert.True(t, found, "%s: want %q at line %d, got %v", name, w.Kind, w.Line, kinds)
		if err != nil {
			assert.ErrorIs(t, err, device.ErrFault, name)
		}
	}
}

// nearby: clang gives the hook of an empty loop the line before it.
func nearby(f, want trace.Finding, compiler string) bool {
	return compiler != "" && f.Kind == "steps" && f.Line >= want.Line-2 && f.Line < want.Line
}

func TestRightKernelsAreNotReported(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		for _, s := range device.ScanKernels(clean) {
			blocks := 1
			if s.Name == "last_block_sums" || s.Name == "all_write_one_value" || s.Name == "atomic_sum" {
				blocks = 20
			}
			r, err := run(t, d, clean, s.Name, blocks)
			assert.NoError(t, err, s.Name)
			for _, f := range r.Findings {
				assert.Fail(t, "a finding on a right kernel", "%s:\n%v", s.Name, f)
			}
		}
	})
}

// TestBlocksMeetWhateverIsChecked: the code that watches blocks meet is active only
// when races are looked for.
func TestBlocksMeetWhateverIsChecked(t *testing.T) {
	for _, checks := range []Checks{{Mem: true}, {Race: true}, {Sync: true}, {Init: true}, {Traffic: true}} {
		r, err := run(t, start(t, Options{Checks: checks}), clean, "last_block_sums", 20)
		assert.NoError(t, err, "%+v", checks)
		assert.Empty(t, r.Findings, "%+v", checks)
	}
}

func TestAFindingReadsLikeACompilersMessage(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	r, err := run(t, d, bugs, "missing_barrier", 1)
	require.NoError(t, err)
	require.Len(t, r.Findings, 1)
	text := r.Findings[0].String()
	t.Log("\n" + text)
	for _, part := range []string{
		"kernels.cu:7:", "race on shared memory tile[1][0] (4 bytes)",
		"y[t] = tile[3 - t / 16][t % 16];", "wrote it at kernels.cu:6", "reads it at kernels.cu:7",
		"no __syncthreads() between them; first seen in block (0,0,0)", "hint:",
	} {
		assert.Contains(t, text, part)
	}
}

func TestAKernelIsStoppedAfterItsTime(t *testing.T) {
	d := start(t, Options{Checks: Checks{Mem: true}, Timeout: 200 * time.Millisecond, Workers: 2})
	r, err := run(t, d, bugs, "endless_spin", 3)
	require.ErrorIs(t, err, device.ErrFault)
	require.NotEmpty(t, r.Findings)
	assert.Equal(t, "time", r.Findings[0].Kind)
	assert.ErrorContains(t, err, "endless loop?")
	_, err = run(t, d, clean, "with_barrier", 1)
	assert.NoError(t, err, "the simulator goes on")
}

func TestFindingsDoNotDependOnTheNumberOfWorkers(t *testing.T) {
	for _, name := range []string{"blocks_race", "past_the_end", "missing_second_barrier"} {
		var first *trace.Report
		for _, workers := range []int{1, 2, 3, 7} {
			d := start(t, Options{Checks: AllChecks(), Workers: workers})
			for range 3 {
				r, _ := run(t, d, bugs, name, 40)
				if first == nil {
					first = r
				}
				assert.Equal(t, first, r, "%s with %d workers", name, workers)
			}
		}
	}
}

func TestFindingsAreTheSameOnEveryRun(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	first, err := run(t, d, bugs, "missing_second_barrier", 1)
	require.NoError(t, err)
	second, err := run(t, d, bugs, "missing_second_barrier", 1)
	require.NoError(t, err)
	assert.Equal(t, first, second)
}
