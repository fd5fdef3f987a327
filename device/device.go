// Package device is the single interface to a GPU: memory, compiled kernels and
// launches, the same for the simulator (device/sim) and for CUDA (device/cuda).
//
// Students hold a Queue. Streams, events and clocks exist only on Device,
// which the grader keeps. So a submission cannot time itself, or move work to
// where the clock does not see it.
package device

import (
	"errors"
	"time"
)

// Kind names an implementation.
type Kind string

// The two implementations.
const (
	Sim  Kind = "sim"
	CUDA Kind = "cuda"
)

// Info describes a device.
type Info struct {
	Kind           Kind
	Name           string // "NVIDIA H100 80GB HBM3", "flashlab simulator"
	Arch           string // "sm_90" on a GPU, "sim" in the simulator
	Processors     int    // streaming multiprocessors; 4 in every simulator
	WarpSize       int
	MaxThreads     int   // threads a block
	MaxShared      int   // bytes of shared memory a block may ask for
	MemoryBytes    int64 // device memory in all
	DriverVersion  string
	ToolkitVersion string // of the compiler that builds the kernels
}

// Memory is an untyped block of device memory, as its Queue handed it out, or
// a part of one.
type Memory struct {
	Addr  uint64 // device address
	Bytes int64
	Name  string // shown in error messages
}

// Module is a compiled Source.
type Module interface {
	// Kernel finds a __global__ function by name, or by the expression that
	// Source.Kernels has.
	Kernel(name string) (Kernel, error)
}

// Variables is a Module that finds its variables for Go. The simulator's do.
type Variables interface {
	Module
	// Variable is a __device__ or __constant__ variable's memory, by its name in C++ ("weights",
	// "layers::weights"). CopyIn is what sets a constant.
	Variable(name string) (Memory, error)
}

// Kernel is a function that Launch can start.
type Kernel interface {
	Signature() Signature
}

// Dim is a size in threads or blocks. Zero counts as one for Y and Z only.
type Dim struct{ X, Y, Z int }

// D1 is a one-dimensional size.
func D1(x int) Dim { return Dim{x, 1, 1} }

// D2 is a two-dimensional size.
func D2(x, y int) Dim { return Dim{x, y, 1} }

// D3 is a three-dimensional size.
func D3(x, y, z int) Dim { return Dim{x, y, z} }

// Launch says how many threads run a kernel.
type Launch struct {
	Grid   Dim // blocks
	Block  Dim // threads a block, at most Info().MaxThreads
	Shared int // bytes of dynamic shared memory a block

	// Early promises that every block of the kernel calls
	// cudaGridDependencySynchronize before it touches what an earlier kernel
	// may have written or may still read. In a recorded graph, on GPUs from
	// Hopper on, the kernel may then begin before the previous one has finished
	// ("programmatic dependent launch"), and what it does before that call, such
	// as asking for weights, costs no extra time. Everywhere else Early changes
	// nothing. A kernel that waits without being launched early is merely
	// slower. One that is launched early and does not wait races with the
	// kernels before it, and no check sees that, either on a GPU or in the
	// simulator, where kernels never overlap.
	Early bool

	// Cooperative has all blocks live at once, so that they may wait for one another
	// (cooperative_groups::this_grid().sync()). More blocks than the device holds are refused.
	Cooperative bool

	// Cluster is how many blocks make a thread block cluster: they live at once, and reach one
	// another's shared memory. It takes a GPU from Hopper on. A kernel with __cluster_dims__
	// needs none here; zero is a launch without clusters, or with the kernel's own.
	Cluster Dim
}

// Queue is what a student's code is given: everything on it happens in order.
type Queue interface {
	Info() Info
	// Malloc allocates device memory; its bytes hold no value yet.
	Malloc(name string, bytes int64) (Memory, error)
	// Free gives back what Malloc handed out.
	Free(m Memory) error
	// CopyIn copies len(src) == dst.Bytes bytes to the device.
	CopyIn(dst Memory, src []byte) error
	// CopyOut copies len(dst) == src.Bytes bytes from the device, after all
	// earlier launches have finished.
	CopyOut(dst []byte, src Memory) error
	// Set writes the same byte everywhere.
	Set(dst Memory, value byte) error
	// Compile builds a .cu file for this device. Errors in the file are
	// returned as a *CompileError.
	Compile(src Source) (Module, error)
	// Launch starts a kernel. Arguments are Buffers and Go numbers; they are
	// checked against the kernel's parameters first.
	Launch(k Kernel, l Launch, args ...any) error
}

// Device is a Queue with additions that only a grader or a test may use.
type Device interface {
	Queue
	// Poison fills memory with NaN and marks it as never written.
	Poison(m Memory) error
	// Sync waits until everything queued has finished, and returns what
	// went wrong in it.
	Sync() error
	// NewEvent makes a point in time on the device's own clock, or
	// returns ErrNoClock if there is none.
	NewEvent() (Event, error)
	// Record calls work, and keeps what it queues as a graph instead of doing
	// it. Launch, Set and Poison are kept, on q or on any other Queue of this
	// device (a kernel that was made earlier holds one); their arguments are
	// checked now. Nothing else may use the device meanwhile: other calls are
	// refused with ErrNotRecordable, and Record then fails even if work
	// ignores that.
	Record(work func(q Queue) error) (Graph, error)
	// Attributes tells a compiled kernel's properties on this device.
	Attributes(k Kernel) (Attributes, error)
	// Close frees everything; the device cannot be used afterwards.
	Close() error
}

// Event is a point in the queue's time.
type Event interface {
	// Record queues the event: it happens when all earlier work is done.
	Record() error
	// Since returns the time from start to this event, waiting for both.
	Since(start Event) (time.Duration, error)
	// Close gives the event back.
	Close() error
}

// Asked is an Event that tells without waiting whether it has happened. Events of a
// device with a clock should implement it.
type Asked interface {
	Passed() (bool, error)
}

// Aside is a Device that can copy out what is there while work that was queued still runs. A GPU's should
// implement it.
type Aside interface {
	// CopyOutAside copies at once, and waits for nothing: no queued work may write src.
	CopyOutAside(dst []byte, src Memory) error
}

// Errors that callers test for with errors.Is.
var (
	// ErrNoClock: the device has no clock worth using.
	ErrNoClock = errors.New("this device keeps no time: a GPU is needed to measure speed")
	// ErrNoDevice: there is no such device on this machine.
	ErrNoDevice = errors.New("no such device on this machine")
	// ErrOutOfMemory: device memory is used up.
	ErrOutOfMemory = errors.New("out of device memory")
	// ErrFault: a kernel was stopped (a bad address, a trap, an endless
	// loop); the device cannot be used until it is opened again.
	ErrFault = errors.New("kernel stopped")
	// ErrLaunch: a launch was refused before anything ran.
	ErrLaunch = errors.New("launch refused")
)

// QueueOf narrows a Device to a Queue that cannot be turned back into one.
func QueueOf(d Device) Queue { return narrow{d} }

// narrow embeds the interface, not the device, so that a type assertion to
// Device fails.
type narrow struct{ Queue }
