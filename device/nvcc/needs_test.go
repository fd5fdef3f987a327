package nvcc

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device"
)

// The messages are those of nvcc 13.
func TestNeeds(t *testing.T) {
	const (
		bulk   = "ptxas a.ptx, line 908; error   : Feature 'cp.async.bulk' requires .target sm_90 or higher\n"
		fp8    = "ptxas a.ptx, line 12; error   : Feature 'mma with .e4m3' requires .target sm_89 or higher\n"
		later  = "ptxas a.ptx, line 13; error   : Feature 'tcgen05.alloc' requires .target sm_100 or higher\n"
		wgmma  = "ptxas a.ptx, line 370; error   : Instruction 'wgmma.commit_group' not supported on .target 'sm_80'\n"
		other  = "ptxas a.ptx, line 371; error   : Instruction 'xyzzy' not supported on .target 'sm_80'\n"
		syntax = "ptxas a.ptx, line 29; error   : Unknown modifier '.op'\n"
		end    = "ptxas fatal   : Ptx assembly aborted due to errors\n"
	)
	for output, want := range map[string]string{
		bulk + end:          "sm_90",
		wgmma + end:         "sm_90",
		fp8 + wgmma + end:   "sm_90",
		bulk + later + end:  "sm_100",
		later + bulk + end:  "sm_100",
		bulk + syntax + end: "",
		other + end:         "",
		"":                  "",
	} {
		assert.Equal(t, want, needs(parse(output, device.Source{Name: "kernels.cu", Text: fourLines}, nil)), output)
	}
}
