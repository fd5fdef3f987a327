package device

import (
	"fmt"
	"strings"
)

// Diagnostic is one message of a compiler.
type Diagnostic struct {
	File     string
	Line     int // 0 if the message has none
	Column   int
	Severity string // "error", "warning", "note"
	Text     string
}

func (d Diagnostic) String() string {
	if d.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", d.File, d.Severity, d.Text)
	}
	if d.Column == 0 {
		return fmt.Sprintf("%s:%d: %s: %s", d.File, d.Line, d.Severity, d.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", d.File, d.Line, d.Column, d.Severity, d.Text)
}

// CompileError is a compiler's complaints about a .cu file.
type CompileError struct {
	File        string
	Diagnostics []Diagnostic // the errors first
	Output      string       // all that the compiler printed
	Needs       string       // "sm_90": what the code's instructions take, where that is all that is wrong
}

func (e *CompileError) Error() string {
	if len(e.Diagnostics) == 0 {
		return fmt.Sprintf("%s does not compile:\n%s", e.File, strings.TrimSpace(e.Output))
	}
	lines := make([]string, len(e.Diagnostics))
	for i, d := range e.Diagnostics {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// FaultError is a kernel that was stopped while it ran.
type FaultError struct {
	Kernel string
	Reason string // the first line of what was found
}

func (e *FaultError) Error() string { return "kernel " + e.Kernel + " stopped: " + e.Reason }

// Is makes errors.Is(err, ErrFault) true.
func (e *FaultError) Is(target error) bool { return target == ErrFault }
