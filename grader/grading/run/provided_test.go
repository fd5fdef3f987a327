package run

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/grading/gate"
	"flashlab/nn"
)

// TestOnlyTheCoursesOwnPTXPasses: nn's kernels for Hopper are in workers of tasks that allow no inline PTX.
func TestOnlyTheCoursesOwnPTXPasses(t *testing.T) {
	rules := gate.Rules{Provided: provided()}
	all, err := nn.Sources()
	require.NoError(t, err)
	withPTX := 0
	for _, src := range all {
		vetted, err := rules.VetSource(src)
		require.NoError(t, err, src.Name)
		require.True(t, rules.Provided(vetted), "%s: its normal form is known, too", src.Name)
		if !strings.Contains(src.Text, "#include <hopper.h>") {
			continue
		}
		withPTX++
		_, err = gate.Rules{}.VetSource(src)
		require.ErrorContains(t, err, "inline PTX's instructions, which this task does not allow")
		changed := map[string]device.Source{"text": src, "name": src, "macro": src}
		for what, other := range changed {
			switch what {
			case "text":
				other.Text += "\n__global__ void mine() {}\n"
			case "name":
				other.Name = "kernels.cu"
			case "macro":
				other.Defines = map[string]string{"SLAB": "16"}
			}
			_, err = rules.VetSource(other)
			assert.ErrorContains(t, err, "inline PTX's instructions, which this task does not allow", "%s with another %s", src.Name, what)
		}
	}
	assert.Positive(t, withPTX)
}
