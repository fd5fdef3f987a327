package protocol

import (
	"errors"
	"fmt"
	"slices"

	"flashlab/device"
)

// Failure is an error: its text, and its type as far as callers may test for it.
type Failure struct{ Err error }

// sentinels by the number that stands for them; 0 is none.
var sentinels = []error{nil, device.ErrNoClock, device.ErrNoDevice, device.ErrOutOfMemory, device.ErrFault, device.ErrLaunch}

// maxText bounds an error's text, which may quote a compiler at length.
const maxText = 64 << 10

// Fields makes it a Body.
func (f *Failure) Fields(c *Coder) {
	var (
		text    string
		is      int
		compile *device.CompileError
		fault   *device.FaultError
		launch  *device.LaunchError
	)
	if !c.reading {
		text = Cut(f.Err.Error(), maxText)
		is = 1 + slices.IndexFunc(sentinels[1:], func(s error) bool { return errors.Is(f.Err, s) })
		errors.As(f.Err, &fault)
		errors.As(f.Err, &launch)
		if errors.As(f.Err, &compile) {
			short := *compile
			short.Output = Cut(short.Output, maxText)
			short.Diagnostics = short.Diagnostics[:min(len(short.Diagnostics), 100)]
			compile = &short
		}
	}
	c.Text(&text)
	c.Ints(&is)
	Optional(c, &compile, compileFields)
	Optional(c, &fault, func(c *Coder, e *device.FaultError) { c.Texts(&e.Kernel, &e.Reason) })
	Optional(c, &launch, func(c *Coder, e *device.LaunchError) { c.Texts(&e.Kernel, &e.Reason) })
	if !c.reading {
		return
	}
	var kind error
	switch {
	case compile != nil:
		kind = compile
	case fault != nil:
		kind = fault
	case launch != nil:
		kind = launch
	case is > 0 && is < len(sentinels):
		kind = sentinels[is]
	}
	if f.Err = kind; kind == nil || kind.Error() != text {
		f.Err = &failure{text, kind}
	}
}

func compileFields(c *Coder, e *device.CompileError) {
	c.Texts(&e.File, &e.Output)
	List(c, &e.Diagnostics, func(c *Coder, d *device.Diagnostic) {
		c.Texts(&d.File, &d.Severity, &d.Text)
		c.Ints(&d.Line, &d.Column)
	})
}

// failure reads as the other side's error did, and is what it was.
type failure struct {
	text string
	kind error
}

func (e *failure) Error() string { return e.text }
func (e *failure) Unwrap() error { return e.kind }

// Cut bounds a text.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + fmt.Sprintf("… (%d more bytes)", len(s)-n)
}
