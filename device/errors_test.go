package device

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestErrorsReadLikeACompilers(t *testing.T) {
	d := Diagnostic{File: "kernels.cu", Severity: "error", Text: "no such thing"}
	assert.Equal(t, "kernels.cu: error: no such thing", d.String())
	d.Line = 3
	assert.Equal(t, "kernels.cu:3: error: no such thing", d.String())
	d.Column = 7
	assert.Equal(t, "kernels.cu:3:7: error: no such thing", d.String())
	assert.EqualError(t, &CompileError{File: "kernels.cu", Diagnostics: []Diagnostic{d, d}},
		"kernels.cu:3:7: error: no such thing\nkernels.cu:3:7: error: no such thing")
	quoted := []Diagnostic{d, {File: "kernels.cu", Line: 2, Severity: "error", Text: "nor this"}, {File: "mask.cu", Line: 1, Severity: "error", Text: "elsewhere"}}
	Quote(quoted, "kernels.cu", "a\nb\nreturn nothing;\n")
	assert.EqualError(t, &CompileError{File: "kernels.cu", Diagnostics: quoted},
		"kernels.cu:3:7: error: no such thing\n     3 | return nothing;\n       |       ^\nkernels.cu:2: error: nor this\n     2 | b\nmask.cu:1: error: elsewhere")
	assert.EqualError(t, &CompileError{File: "kernels.cu", Output: "killed\n"}, "kernels.cu does not compile:\nkilled")
}

func TestErrorsAreFoundThroughWrapping(t *testing.T) {
	assert.ErrorIs(t, fmt.Errorf("case 1: %w", &FaultError{"k", "out of bounds"}), ErrFault)
	assert.ErrorIs(t, fmt.Errorf("case 1: %w", Refuse("k", "no")), ErrLaunch)
	assert.NotErrorIs(t, Refuse("k", "no"), ErrFault)
}
