package nvcc

import (
	"regexp"

	"flashlab/device"
)

var (
	// Feature 'cp.async.bulk' requires .target sm_90 or higher
	takes = regexp.MustCompile(`requires \.target (sm_\d+)`)
	// Instruction 'wgmma.fence' not supported on .target 'sm_80'
	lacks = regexp.MustCompile(`Instruction '(\w+)[^']*' not supported on \.target`)
)

// only has the instructions of one architecture alone: the assembler does not name it.
var only = map[string]string{"wgmma": "sm_90", "setmaxnreg": "sm_90"}

// needs is the architecture that the assembler's complaints ask for; "" if it complains
// of anything else, too.
func needs(found []device.Diagnostic) (arch string) {
	for _, d := range found {
		if d.Severity != "error" {
			continue
		}
		want := ""
		if m := takes.FindStringSubmatch(d.Text); m != nil {
			want = m[1]
		} else if m := lacks.FindStringSubmatch(d.Text); m != nil {
			want = only[m[1]]
		}
		if want == "" {
			return ""
		}
		if len(want) > len(arch) || want > arch && len(want) == len(arch) { // sm_100 is above sm_90
			arch = want
		}
	}
	return arch
}
