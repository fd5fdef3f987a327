package sim

import (
	_ "embed"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

//go:embed testdata/spinning.cu
var spinningKernel string

// A block that waits for one that has not begun is stopped long before its limits, and told what is missing; one that
// waits for the block before it is right.
func TestABlockMayWaitForTheOneBefore(t *testing.T) {
	for _, workers := range []int{1, 2} {
		for _, bug := range []bool{true, false} {
			d := start(t, Options{Checks: AllChecks(), Workers: workers, Timeout: time.Minute})
			s := device.Source{Name: "spinning.cu", Text: spinningKernel}
			if bug {
				s.Defines = map[string]string{"BUG": ""}
			}
			m, err := d.Compile(s)
			require.NoError(t, err)
			k, err := m.Kernel("waits_for_the_last_block")
			require.NoError(t, err)
			b := bench{t, d, m}
			parts, y := upload(b, "parts", make([]float32, 64)), upload(b, "y", make([]float32, 64))
			flags, err := device.Upload(d, "flags", make([]uint32, 64))
			require.NoError(t, err)
			err = d.Launch(k, device.Launch{Grid: device.D1(64), Block: device.D1(32)}, upload(b, "x", counting(64)), parts, flags, y)
			r, problem := d.Report()
			require.NoError(t, problem)
			if !bug {
				assert.NoError(t, err)
				assert.Empty(t, r.Findings)
				continue
			}
			require.Error(t, err)
			require.Len(t, r.Findings, 1)
			assert.Equal(t, "not a cooperative launch", r.Findings[0].Kind)
			assert.Contains(t, r.Findings[0].String(), "device.Launch{Cooperative: true}")
			assert.Equal(t, &[3]int{}, r.Findings[0].Block, "the first of them speaks")
		}
	}
}
