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
	Source   string `json:",omitempty"` // the line, where it is known
}

// Quote gives messages about a file their lines of its text.
func Quote(all []Diagnostic, file, text string) {
	lines := strings.Split(text, "\n")
	for i := range all {
		if d := &all[i]; d.File == file && d.Line > 0 && d.Line <= len(lines) {
			d.Source = strings.TrimRight(lines[d.Line-1], "\r ")
		}
	}
}

// quoted is the line with a caret under the place, as findings have them.
func (d Diagnostic) quoted() string {
	if strings.TrimSpace(d.Source) == "" || len(d.Source) > 200 {
		return ""
	}
	text := fmt.Sprintf("\n  %4d | %s", d.Line, strings.ReplaceAll(d.Source, "\t", " "))
	// Compilers disagree about the width of a tab.
	if d.Column > 0 && d.Column <= len(d.Source)+1 && !strings.Contains(d.Source[:d.Column-1], "\t") {
		text += fmt.Sprintf("\n       | %s^", strings.Repeat(" ", d.Column-1))
	}
	return text
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
	const most = 3 // errors whose lines are quoted: what follows mostly comes from these
	lines, quoted := make([]string, len(e.Diagnostics)), 0
	for i, d := range e.Diagnostics {
		lines[i] = d.String()
		if d.Severity == "error" && quoted < most {
			lines[i] += d.quoted()
			quoted++
		}
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
