package nvcc

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device"
)

const fourLines = `extern "C" __global__ void k(float *out) {
    int unused;
    out[0] = nowhere;
}
`

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, output string
		want         []device.Diagnostic
	}{
		{"errors before warnings", `kernels.cu(2): warning #177-D: variable "unused" was declared but never referenced
      int unused;
          ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

kernels.cu(3): error: identifier "nowhere" is undefined
      out[0] = nowhere;
               ^

1 error detected in the compilation of "kernels.cu".
`, []device.Diagnostic{
			{File: "kernels.cu", Line: 3, Column: 14, Severity: "error", Text: `identifier "nowhere" is undefined`},
			{File: "kernels.cu", Line: 2, Column: 9, Severity: "warning", Text: `variable "unused" was declared but never referenced`},
		}},
		{"no column under an expanded macro", `kernels.cu(3): error: identifier "other" is undefined
      out[0] = other;
               ^
`, []device.Diagnostic{{File: "kernels.cu", Line: 3, Severity: "error", Text: `identifier "other" is undefined`}}},
		{"end of the file", "At end of source: error: expected a \"}\"\n",
			[]device.Diagnostic{{File: "kernels.cu", Line: 4, Severity: "error", Text: `expected a "}" before the end of the file`}}},
		{"preprocessor", "kernels.cu:1:10: fatal error: x.h: No such file or directory\n    1 | #include \"x.h\"\ncompilation terminated.\n",
			[]device.Diagnostic{{File: "kernels.cu", Line: 1, Column: 10, Severity: "error", Text: "x.h: No such file or directory"}}},
		{"assembler", "ptxas /tmp/a.ptx, line 29; error   : Unknown modifier '.op'\nptxas fatal   : Ptx assembly aborted due to errors\n",
			[]device.Diagnostic{{File: "kernels.cu", Line: 3, Severity: "error", Text: "assembler: Unknown modifier '.op'"}}},
		{"a kernel too big", "ptxas error   : Entry function 'k' uses too much shared data (0x13880 bytes, 0xc000 max)\n",
			[]device.Diagnostic{{File: "kernels.cu", Line: 1, Severity: "error", Text: "Entry function 'k' uses too much shared data (0x13880 bytes, 0xc000 max)"}}},
		{"in a header", "./own.cuh(4): error: identifier \"nowhere\" is undefined\n      out[0] = nowhere;\n               ^\n",
			[]device.Diagnostic{{File: "own.cuh", Line: 4, Column: 14, Severity: "error", Text: `identifier "nowhere" is undefined`}}},
		{"assembler, in a header", "ptxas /tmp/a.ptx, line 30; error   : Unknown modifier '.op'\n",
			[]device.Diagnostic{{File: "own.cuh", Line: 2, Severity: "error", Text: "assembler: Unknown modifier '.op'"}}},
		{"nothing known", "nvcc fatal   : Unsupported gpu architecture 'compute_35'\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, parse(c.output, device.Source{Name: "kernels.cu", Text: fourLines, Files: map[string]string{"own.cuh": "#pragma once\n" + fourLines}}, map[int]place{29: {"kernels.cu", 3}, 30: {"own.cuh", 2}}))
		})
	}
}
