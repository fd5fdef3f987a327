package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
)

func TestUnrolledKernelsHaveTheirBugsAtTheSameLines(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) { findPlantedBugs(t, compiler, true) })
}

// A product with tiles of registers, unrolled or not: the same numbers, bytes, sectors and operations.
func TestUnrollingChangesNoCount(t *testing.T) {
	const n = 64
	forEachCompiler(t, func(t *testing.T, compiler string) {
		var counts [2]trace.Counts
		var results [2][]float32
		for i, unroll := range []bool{false, true} {
			d := start(t, Options{Checks: AllChecks(), Compiler: compiler, Unroll: unroll, FLOPs: true})
			require.Equal(t, unroll, d.compiler.unrolls, "this compiler cannot unroll")
			m, err := d.Compile(device.Source{Name: "kernels.cu", Text: benchKernels})
			require.NoError(t, err)
			k, err := m.Kernel("registers")
			require.NoError(t, err)
			data := make([]float32, n*n)
			for j := range data {
				data[j] = float32(j%7) - 3
			}
			a, err := device.Upload(d, "a", data)
			require.NoError(t, err)
			c, err := device.Alloc[float32](d, "c", n*n)
			require.NoError(t, err)
			require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D2(8, 8)}, a, a, c, n))
			r, err := d.Report()
			require.NoError(t, err)
			require.Empty(t, r.Findings)
			require.Len(t, r.Launches, 1)
			counts[i] = r.Launches[0]
			results[i], err = c.CopyOut(d)
			require.NoError(t, err)
		}
		assert.Equal(t, results[0], results[1])
		plain, unrolled := counts[0], counts[1]
		assert.Less(t, unrolled.Steps, plain.Steps, "blocks of code that are passed: unrolled loops have fewer")
		for _, c := range []*trace.Counts{&plain, &unrolled} { // what depends on the machine code
			c.Steps, c.LongestBlock, c.Instructions = 0, 0, 0
		}
		assert.Equal(t, accessesByLine(plain.LineCounts), accessesByLine(unrolled.LineCounts))
		plain.LineCounts, unrolled.LineCounts, plain.LineSteps, unrolled.LineSteps = nil, nil, nil, nil
		assert.Equal(t, plain, unrolled)
	})
}

// accessesByLine adds up the accesses of each line: an unrolled one has several instructions.
func accessesByLine(counts []trace.LineCounts) map[int]trace.LineCounts {
	lines := map[int]trace.LineCounts{}
	for _, c := range counts {
		sum := lines[c.Line]
		sum.Requests += c.Requests
		sum.Bytes += c.Bytes
		sum.Sectors += c.Sectors
		sum.Passes += c.Passes
		sum.Lanes += c.Lanes
		lines[c.Line] = sum
	}
	return lines
}
