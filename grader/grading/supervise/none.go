package supervise

import (
	"net"

	"flashlab/device"
	"flashlab/grader/grading/problem"
)

// None is a Backend for tasks in plain Go: there is no device at all, and what
// is counted, the worker counts itself.
type None struct{}

// Kind is wire.NoDevice.
func (None) Kind() device.Kind { return problem.NoDevice }

// Serve answers nothing.
func (None) Serve(conn net.Conn, _ Kernels) {}

// Observe has nothing to look at.
func (None) Observe() (Observed, error) { return Observed{}, nil }

// Expanded is nothing: nothing is compiled.
func (None) Expanded() []Expanded { return nil }

// Renew has nothing to do.
func (None) Renew() error { return nil }

// Close has nothing to close.
func (None) Close() error { return nil }
