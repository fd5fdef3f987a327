package sim

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
)

//go:embed testdata/hints_bounds.cu
var outOfBounds string

//go:embed testdata/hints_races.cu
var races string

// mistake is a kernel of these, with what its message has to say.
type mistake struct {
	says   []string
	clang  []string // instead of the first of them: clang++ tells no names of a launch's shared memory
	blocks []int
	text   string
}

var saysLine = regexp.MustCompile(`(?m)^// (says|clang|blocks): (.*)$`)

// mistakes takes a file of them apart. FILL and USE are the lines that // fill and // use mark.
func mistakes(hints string) map[string]mistake {
	all := map[string]mistake{}
	lines := strings.Split(hints, "\n")
	from := 0
	for _, s := range device.ScanKernels(hints) {
		to := s.Line
		for to < len(lines) && lines[to-1] != "}" {
			to++
		}
		m := mistake{blocks: []int{1, 4}, text: strings.Join(lines[s.Line-1:to], "\n")}
		var marks []string
		for i := s.Line; i <= to; i++ {
			for _, mark := range []string{"fill", "use"} {
				if strings.HasSuffix(lines[i-1], "// "+mark) {
					marks = append(marks, strings.ToUpper(mark), strconv.Itoa(i))
				}
			}
		}
		for _, said := range saysLine.FindAllStringSubmatch(strings.Join(lines[from:s.Line-1], "\n"), -1) {
			switch said[1] {
			case "says":
				m.says = append(m.says, strings.NewReplacer(marks...).Replace(said[2]))
			case "clang":
				m.clang = append(m.clang, said[2])
			default:
				n, _ := strconv.Atoi(said[2])
				m.blocks = []int{n}
			}
		}
		all[s.Name], from = m, to
	}
	return all
}

func launchMistake(t *testing.T, d *Device, m device.Module, name string, blocks int) *trace.Report {
	t.Helper()
	k, err := m.Kernel(name)
	require.NoError(t, err)
	numbers := make([]float32, 256)
	for i := range numbers {
		numbers[i] = float32(i)
	}
	x, err := device.Upload(d, "x", numbers)
	require.NoError(t, err)
	y, err := device.Upload(d, "y", numbers)
	require.NoError(t, err)
	fault := d.Launch(k, device.Launch{Grid: device.D1(blocks), Block: device.D1(64), Shared: 64}, x, y)
	r, err := d.Report()
	require.NoError(t, err)
	require.NotEmpty(t, r.Findings, "%s, %d blocks: %v", name, blocks, fault)
	return r
}

// TestAHintFitsTheMistake: its own words, and none that another mistake would need.
func TestAHintFitsTheMistake(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		for _, hints := range []string{outOfBounds, races} {
			for name, want := range mistakes(hints) {
				if strings.Contains(compiler, "clang") && len(want.clang) > 0 {
					want.says = append(want.clang, want.says[1:]...)
				}
				hintsOf(t, d, hints, name, want)
			}
		}
	})
}

func hintsOf(t *testing.T, d *Device, hints, name string, want mistake) {
	t.Helper()
	require.NotEmpty(t, want.says, name)
	for _, blocks := range want.blocks {
		require.NoError(t, d.Reset())
		m, err := d.Compile(device.Source{Name: "kernels.cu", Text: hints})
		require.NoError(t, err)
		r := launchMistake(t, d, m, name, blocks)
		text := r.Findings[0].String()
		for _, said := range want.says {
			assert.Contains(t, text, said, "%s, %d blocks", name, blocks)
		}
		for _, f := range r.Findings {
			fits(t, f, want.text, blocks)
		}
	}
}

// fits checks what no hint may say, whichever the mistake is.
func fits(t *testing.T, f trace.Finding, text string, blocks int) {
	t.Helper()
	if strings.Contains(f.Hint, "last block") {
		assert.True(t, blocks > 1 && f.Block[0] == blocks-1, "not in the last block:\n%v", f)
	}
	if strings.Contains(f.Hint, "round") && f.Kind == "race" {
		assert.Regexp(t, `\b(for|while|do)\b`, text, "no loop is there:\n%v", f)
	}
	if strings.Contains(f.String(), "__syncwarp") {
		assert.Contains(t, text, "// in one warp", "threads of two warps meet:\n%v", f)
	}
	if strings.Contains(f.Hint, "use an atomic") {
		assert.Regexp(t, `\+=|old|best\) best`, text, "nothing is read, changed and written back:\n%v", f)
	}
	if f.Kind == "out of bounds" { // one unit throughout
		if !strings.Contains(f.Message, " raw[") { // an array of bytes
			assert.NotRegexp(t, `holds \d+ bytes`, f.Message)
		}
		assert.NotContains(t, f.Message, "no device address")
	}
}

// TestABlockOfOneWarpSaysNothingOfWarps: its threads meet in one warp whatever the kernel does.
func TestABlockOfOneWarpSaysNothingOfWarps(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: races})
	require.NoError(t, err)
	k, err := m.Kernel("straight_first")
	require.NoError(t, err)
	for _, threads := range []int{64, 32} { // s[32] to s[63] are nobody's in the second
		require.NoError(t, d.Reset())
		x, err := device.Upload(d, "x", make([]float32, 64))
		require.NoError(t, err)
		require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(threads)}, x, x))
		r, err := d.Report()
		require.NoError(t, err)
		require.NotEmpty(t, r.Findings)
		assert.NotContains(t, r.Findings[0].String(), "__syncwarp", "%d threads", threads)
	}
}

func TestTheBodiesAndLoopsOfASource(t *testing.T) {
	s := readSource(`namespace n {
struct __align__(16) P {
    float a;
};
template <class T> __global__ void k(T *x) {
    for (int i = 0; i < 4; i++) {
        if (i) {
            x[i] = 1;
        } else if (x) {
            x[i] = 2;
        }
    }
    auto f = [&](int j) {
        while (j--) x[j] = 3;
    };
    do {
        f(1);
    } while (x[0]); // for ever
}
__device__ int g() { return 1; }
}
`)
	assert.Equal(t, []stretch{{5, 19}, {13, 15}, {20, 20}}, s.bodies)
	assert.Equal(t, []stretch{{6, 12}, {14, 14}, {16, 18}, {18, 18}}, s.loops)
	assert.True(t, s.inOneBody(8, 17))
	assert.False(t, s.inOneBody(8, 14))
	assert.False(t, s.inOneBody(8, 20))
	in, ok := s.loopAround(8, 10)
	assert.Equal(t, stretch{6, 12}, in)
	assert.True(t, ok)
	_, ok = s.loopAround(8, 17)
	assert.False(t, ok)
}
