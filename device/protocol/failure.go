package protocol

import (
	"errors"
	"fmt"
	"slices"

	"flashlab/device"
)

// Failure is an error: its text, and its type as far as callers may test for it.
type Failure struct {
	Text    string
	Is      int // an index of sentinels
	Compile *device.CompileError
	Fault   *device.FaultError
	Launch  *device.LaunchError
}

var sentinels = []error{nil, device.ErrNoClock, device.ErrNoDevice, device.ErrOutOfMemory, device.ErrFault, device.ErrLaunch}

// maxText bounds an error's text, which may quote a compiler at length.
const maxText = 64 << 10

// NewFailure describes an error.
func NewFailure(err error) Failure {
	f := Failure{Text: Cut(err.Error(), maxText)}
	f.Is = 1 + slices.IndexFunc(sentinels[1:], func(s error) bool { return errors.Is(err, s) })
	errors.As(err, &f.Fault)
	errors.As(err, &f.Launch)
	if errors.As(err, &f.Compile) {
		short := *f.Compile
		short.Output = Cut(short.Output, maxText)
		short.Diagnostics = short.Diagnostics[:min(len(short.Diagnostics), 100)]
		f.Compile = &short
	}
	return f
}

// Err is an error that reads as the other side's did, and is what it was.
func (f Failure) Err() error {
	var kind error
	switch {
	case f.Compile != nil:
		kind = f.Compile
	case f.Fault != nil:
		kind = f.Fault
	case f.Launch != nil:
		kind = f.Launch
	case f.Is > 0 && f.Is < len(sentinels):
		kind = sentinels[f.Is]
	}
	if kind != nil && kind.Error() == f.Text {
		return kind
	}
	return &failure{f.Text, kind}
}

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
