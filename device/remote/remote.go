// Package remote puts a device behind a socket: a server in the process that
// owns the device, and a client that is a device.Device itself. A submission
// gets the client, so that it can allocate, copy, compile and launch, but can
// neither crash the device's owner nor touch what the device reports.
//
// The server trusts nothing that it reads: messages are bounded (package
// frame), and every address is looked up among the allocations it handed out.
package remote

import (
	"errors"
	"fmt"

	"flashlab/device"
)

// chunk is the most that one message copies.
const chunk = 64 << 20

// The operations.
const (
	opInfo       = "info"
	opAttributes = "attributes"
	opMalloc     = "malloc"
	opFree       = "free"
	opCopyIn     = "copyin"
	opCopyOut    = "copyout"
	opSet        = "set"
	opPoison     = "poison"
	opCompile    = "compile"
	opKernel     = "kernel"
	opLaunch     = "launch"
	opSync       = "sync"
	opCubin      = "cubin"
)

// request is what the client asks; the bytes of a copy are the payload.
type request struct {
	Op     string
	Name   string         `json:",omitempty"` // of a buffer or a kernel
	Addr   uint64         `json:",omitempty"`
	Bytes  int64          `json:",omitempty"`
	Value  byte           `json:",omitempty"`
	Source *device.Source `json:",omitempty"`
	Arch   string         `json:",omitempty"`
	ID     int            `json:",omitempty"` // of a module or a kernel
	Launch device.Launch
	Args   []device.Value `json:",omitempty"`
}

// response answers one request.
type response struct {
	Error      *wireError         `json:",omitempty"`
	Info       *device.Info       `json:",omitempty"`
	Addr       uint64             `json:",omitempty"`
	ID         int                `json:",omitempty"`
	Signature  *device.Signature  `json:",omitempty"`
	Attributes *device.Attributes `json:",omitempty"`
}

// wireError carries an error's text and its type, as far as callers may test
// for it.
type wireError struct {
	Text    string
	Is      string               `json:",omitempty"` // a name in sentinels
	Compile *device.CompileError `json:",omitempty"`
	Fault   *device.FaultError   `json:",omitempty"`
	Launch  *device.LaunchError  `json:",omitempty"`
}

var sentinels = map[string]error{
	"noclock":  device.ErrNoClock,
	"nodevice": device.ErrNoDevice,
	"memory":   device.ErrOutOfMemory,
	"fault":    device.ErrFault,
	"launch":   device.ErrLaunch,
}

// maxText bounds an error's text, which may quote a compiler at length.
const maxText = 64 << 10

func toWire(err error) *wireError {
	if err == nil {
		return nil
	}
	w := &wireError{Text: cut(err.Error(), maxText)}
	var compile *device.CompileError
	if errors.As(err, &compile) {
		short := *compile
		short.Output = cut(short.Output, maxText)
		short.Diagnostics = short.Diagnostics[:min(len(short.Diagnostics), 100)]
		w.Compile = &short
	}
	errors.As(err, &w.Fault)
	errors.As(err, &w.Launch)
	for name, target := range sentinels {
		if errors.Is(err, target) {
			w.Is = name
		}
	}
	return w
}

// remoteError reads as the server's error did, and is what it was.
type remoteError struct {
	text string
	kind error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.kind }

func (w *wireError) toError() error {
	var kind error
	switch {
	case w == nil:
		return nil
	case w.Compile != nil:
		kind = w.Compile
	case w.Fault != nil:
		kind = w.Fault
	case w.Launch != nil:
		kind = w.Launch
	default:
		kind = sentinels[w.Is]
	}
	if kind != nil && kind.Error() == w.Text {
		return kind
	}
	return &remoteError{w.Text, kind}
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + fmt.Sprintf("… (%d more bytes)", len(s)-n)
}
