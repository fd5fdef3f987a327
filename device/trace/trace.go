// Package trace describes what the simulator found, counted and heard of the
// kernels that it ran. It is data alone, so that code that stores or shows it need
// not link the simulator (device/sim), which makes it. The fields' names are those
// of the JSON in a class's records: old records could not be read under a new name.
package trace

import "math"

// Report is what the simulator saw since Start or the last Reset.
type Report struct {
	Findings []Finding
	Notes    []Finding `json:",omitempty"` // what is right, and worth a word all the same
	Launches []Counts
	Overfull []Overfull `json:",omitempty"` // tables of the simulator's that did not hold all
}

// Overfull is a table that could not hold all of some launches: what was not kept was neither counted nor judged.
type Overfull struct {
	What     string // "more than …"
	Launches int
}

// Counts is the work of one kernel, summed over its launches.
type Counts struct {
	Kernel                       string
	Launches                     int
	GlobalRead, GlobalWritten    uint64 // bytes that threads asked for
	SectorsRead, SectorsWritten  uint64 // 32-byte sectors moved for them
	SharedRead, SharedWritten    uint64 // bytes
	SharedRequests, SharedPasses uint64 // warp requests, and passes of the banks they took
	Barriers, Steps              uint64
	VariablesWritten             uint64  `json:",omitempty"` // bytes of the module's variables that each launch wrote to, in sectors
	Heap                         uint64  `json:",omitempty"` // bytes of the kernels' own heap that each launch had in use at once
	Spilled                      uint64  `json:",omitempty"` // bytes of local memory beyond what registers could hold
	LongestBlock                 uint64  // steps of each launch's longest block
	MostRead                     uint64  // the most that one block of each launch read, of device memory and of other blocks' shared memory
	TensorCore                   uint64  `json:",omitempty"` // instructions of tensor cores, by warps
	GlobalRequests               uint64  // warp requests
	DeviceRead, DeviceWritten    uint64  // bytes from and to device memory, by the model in device/sim/README.md
	FLOPs                        uint64  // floating-point operations, where sim.Options asks for them; a fused multiply-add is two
	Ran                          uint64  `json:",omitempty"` // blocks that ran, where sim.Options asks for a sample: the counts are theirs
	Variance                     float64 `json:",omitempty"` // of a sample: its steps' standard error, squared
	SectorsMissed                uint64  `json:",omitempty"` // sectors that were read and are not in a model of the L1 cache
	Matrix                       uint64  `json:",omitempty"` // of FLOPs: those of tensor cores
	Special                      uint64  `json:",omitempty"` // of FLOPs: divisions, roots and mathematical functions
	Instructions                 uint64  `json:",omitempty"` // of this machine's processor, beyond what checks and counts; with FLOPs
	WarpGroups, WarpGroupSteps   uint64  `json:",omitempty"` // wgmma, and products of 16 × 8 by 32 bytes in them
	Threads, SharedHad           uint64  `json:",omitempty"` // of all blocks, those too that did not run: threads, bytes of shared memory
	Held                         uint64  `json:",omitempty"` // bytes of device memory in use, of each launch
	Bounds                       [2]int  `json:",omitzero"`  // the kernel's __launch_bounds__
	LineCounts                   []LineCounts
	Grid, Block                  [3]int      `json:",omitzero"`  // of the first launch
	Blocks                       uint64      `json:",omitempty"` // of all launches
	LineSteps                    []LineSteps `json:",omitempty"` // where sim.Options asks for them
	Samples                      *Samples    `json:",omitempty"` // likewise
}

// Deviation is the standard error of a sample's steps, over them.
func (c Counts) Deviation() float64 { return math.Sqrt(c.Variance) / float64(max(c.Steps, 1)) }

// LineCounts is the part of Counts that one source line caused.
type LineCounts struct {
	File                     string
	Line                     int
	Op                       string // "read", "write", "atomic"
	Shared                   bool
	Requests, Bytes, Sectors uint64
	Passes                   uint64
	Lanes                    uint64 `json:",omitempty"` // accesses of single threads
}

// LineSteps is what the threads of a kernel did in one source line.
type LineSteps struct {
	File     string
	Line     int
	Steps    uint64 // accesses of threads, their arrivals at barriers, and basic blocks of code that they began
	Barriers uint64 // how often the threads of a block met there
}

// Print is one printf of a kernel's thread.
type Print struct {
	Kernel        string
	Block, Thread [3]int
	Text          string
}

// Show picks the threads whose printf is kept; nil is any.
type Show struct{ Block, Thread *[3]int }
