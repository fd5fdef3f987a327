//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"strings"

	"gorgonia.org/cu"

	"flashlab/device"
)

// faults are the answers of a driver whose context a kernel has ruined, with
// what the kernel did.
var faults = []struct {
	code error
	says string
}{
	{cu.IllegalAddress, "it read or wrote an address that belongs to no buffer"},
	{cu.MisalignedAddress, "it read or wrote an address that its type does not allow (a float4 wants a multiple of 16)"},
	{cu.LaunchFailed, "it failed while it ran (a bad address in shared or local memory, or a trap)"},
	{cu.IllegalInstruction, "it met an illegal instruction"},
	{cu.InvalidPc, "it jumped to where no code is"},
	{cu.InvalidAddressSpace, "it used an address in the wrong kind of memory"},
	{cu.HardwareStackError, "its call stack overflowed or broke"},
	{cu.Assert, "an assert in it failed"},
	{cu.LaunchTimeout, "it ran longer than the driver allows (the GPU also draws a screen)"},
	{cu.EccUncorrectable, "the GPU's memory has an error that cannot be corrected"},
}

// failed says which call failed, and how.
func failed(call string, err error) error {
	if errors.Is(err, cu.OutOfMemory) {
		return fmt.Errorf("%s: %w", call, device.ErrOutOfMemory)
	}
	return fmt.Errorf("%s: %v", call, err)
}

// failed also finds out whether a kernel was stopped, perhaps one that was
// launched long before the call.
func (g *gpu) failed(call string, err error) error {
	for _, f := range faults {
		if errors.Is(err, f.code) {
			g.fault = &device.FaultError{
				Kernel: g.suspects(),
				Reason: fmt.Sprintf("%s (%v at %s); the simulator shows the line: run the same with it", f.says, err, call),
			}
			return g.fault
		}
	}
	return failed(call, err)
}

// suspects names the kernels that may have done it: those that had not been
// known to finish.
func (g *gpu) suspects() string {
	if len(g.pending) == 0 {
		return "(unknown)"
	}
	return strings.Join(g.pending, " or ")
}

// launched remembers a kernel until the next time all have finished.
func (g *gpu) launched(name string) { g.pending = addName(g.pending, name) }

// addName adds a name that is not there yet.
func addName(names []string, name string) []string {
	for _, known := range names {
		if known == name {
			return names
		}
	}
	return append(names, name)
}

// finished: everything that was launched has run.
func (g *gpu) finished() { g.pending = g.pending[:0] }
