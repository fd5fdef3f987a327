// Package amd compiles the course's kernels for AMD's GPUs, where none is needed, and makes the table of docs/amd.md: what
// registers and memory a kernel takes there, beside what nvcc gives it.
package amd

import (
	"embed"
	"fmt"

	"flashlab/grader/tasks/registry"
)

//go:embed include
var include embed.FS

// Chip is what to compile for.
type Chip struct {
	Arch string // as the compiler calls it
	Wave int    // lanes of a wavefront
	Of   string // a card that has it
}

// Chips are one of each width that Debian's compiler knows.
var Chips = []Chip{{"gfx90a", 64, "MI210, MI250"}, {"gfx1030", 32, "RX 6800, RX 6900"}}

// Tasks are those whose kernels are compiled: they have rungs without tensor cores.
var Tasks = []registry.Name{"0", "2", "4", "5", "b1", "b6", "b7", "b8"}

// Use is what a compiler gives one kernel on one chip.
type Use struct {
	Registers int // VGPRs of a lane, accumulators' among them; nvcc: registers of a thread
	Shared    int // bytes of a block that the compiler knows of; a launch may add more
	Scratch   int // bytes of a lane or thread that did not fit into registers
	Waves     int // of a SIMD, of as many as there may be; 0: not told
}

// Text is a cell for each of a use's numbers.
func (u Use) Text(waves bool) string {
	s := fmt.Sprintf("%d | %d | %d", u.Registers, u.Shared, u.Scratch)
	if waves {
		s += fmt.Sprintf(" | %d", u.Waves)
	}
	return s
}

// Result is a file's: its kernels' uses on each chip by their names, or why there are none.
type Result struct {
	Task  registry.Name
	Name  string // "3_registers/kernels.cu", "kernels.cu"
	Not   string // why it was not compiled: "tensor cores", "PTX"
	Chips []Compiled
	NVCC  *Compiled // nil without nvcc
}

// Compiled is what a compiler made of a file.
type Compiled struct {
	Kernels []string // in the file's order
	Uses    map[string]Use
	Failed  string // the compiler's first complaint
}
