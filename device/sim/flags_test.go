package sim

import (
	_ "embed"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
)

//go:embed testdata/flags.cu
var flagKernels string

// marked are the lines of a kernel with a comment of that word: "kind" by line.
func marked(text, word, kernel string) map[int]string {
	re := regexp.MustCompile(`// ` + word + `: (.*)$`)
	lines, inside := map[int]string{}, false
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "__global__") {
			inside = strings.Contains(line, " "+kernel+"(")
		}
		if m := re.FindStringSubmatch(line); m != nil && inside {
			lines[i+1] = m[1]
		}
	}
	return lines
}

func byLine(all []trace.Finding) map[int]string {
	lines := map[int]string{}
	for _, f := range all {
		lines[f.Line] = f.Kind
	}
	return lines
}

// ofTwoBlocks is what a kernel's launch reports: two blocks of 64 threads, 128 numbers to read and
// 4097 zeros to write.
func ofTwoBlocks(t *testing.T, d *Device, s device.Source, kernel string) *trace.Report {
	m, err := d.Compile(s)
	require.NoError(t, err)
	k, err := m.Kernel(kernel)
	require.NoError(t, err)
	x, err := device.Upload(d, "x", make([]float32, 128))
	require.NoError(t, err)
	y, err := device.Upload(d, "y", make([]float32, 4097))
	require.NoError(t, err)
	require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(2), Block: device.D1(64)}, x, y))
	r, err := d.Report()
	require.NoError(t, err)
	return r
}

// Right code with flags and compare-and-swap gets notes at most; what is wrong with it is
// found, one finding for a defect.
func TestFlagsAndComparisons(t *testing.T) {
	bothCompilers(t, func(t *testing.T, compiler string) {
		for _, workers := range []int{1, 2} {
			for _, k := range device.ScanKernels(flagKernels) {
				d := start(t, Options{Checks: AllChecks(), Compiler: compiler, Workers: workers})
				r := ofTwoBlocks(t, d, device.Source{Name: "flags.cu", Text: flagKernels}, k.Name)
				assert.Equal(t, marked(flagKernels, "want", k.Name), byLine(r.Findings), "%s: findings %v", k.Name, r.Findings)
				assert.Equal(t, marked(flagKernels, "note", k.Name), byLine(r.Notes), "%s: notes", k.Name)
				if k.Name == "one_barrier_many_lines" {
					require.Len(t, r.Findings, 1)
					assert.Contains(t, r.Findings[0].String(), "the same in lines ")
				}
			}
		}
	})
}
