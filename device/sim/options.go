package sim

import (
	"runtime"
	"time"

	"flashlab/device"
	"flashlab/device/modules"
	"flashlab/device/trace"
	"flashlab/internal/jail"
)

const (
	maxThreads  = 1024
	maxShared   = 227 << 10 // bytes a block, as on an H100
	mostModules = 1 << 20   // that one process can have loaded: it may not name just any number

	defaultSteps   = 2_000_000_000
	defaultTimeout = 60 * time.Second
	defaultMemory  = 4 << 30
	quickLimit     = 60 * time.Second // for commands that run no kernel
)

// Checks says what is looked for while kernels run. With none of them kernels
// are compiled plain: fast, and a wild address may go unseen.
type Checks struct {
	Mem     bool // addresses: bounds, alignment, use after free
	Race    bool // accesses that no barrier orders
	Init    bool // reads of memory that was never written
	Sync    bool // barriers that part of a block does not reach
	Traffic bool // counts of bytes and transactions
}

// AllChecks is what grading uses.
func AllChecks() Checks { return Checks{true, true, true, true, true} }

// Options of a simulator; the zero value of each means its default.
type Options struct {
	Checks   Checks
	MaxSteps uint64                        // memory accesses, barriers and basic blocks that a block may come to
	Workers  int                           // blocks that run at the same time; default: one for each core
	Timeout  time.Duration                 // wall clock a launch may take
	Memory   int64                         // bytes of device memory
	As       *device.Info                  // whose architecture and multiprocessors it says it has; default: its own
	Cache    string                        // directory; default: cache.Dir
	Own      *modules.Own                  // where modules are kept that are not everybody's; nil: all are in the cache
	Compiler string                        // default: the first that builds a probe kernel
	Strict   bool                          // threads that end while others wait at a barrier are a finding, where they are a note otherwise (skips.go)
	Unroll   bool                          // loops of known length are unrolled, as by nvcc: for kernels that run for long, see unroll.go
	FLOPs    bool                          // reports count operations, too: no grade needs them, and they are read off the machine code
	Lines    bool                          // reports tell the steps and barriers of each line, too, and what pictures are drawn from: for `make show`
	Sample   int                           // so many blocks of each launch run, and no more: what they compute is not complete; 0: all
	Show     trace.Show                    // whose printf is kept; default: every thread's
	Vet      func(Preprocessed) error      // may refuse what a kernel comes to; nil: nothing is refused
	Vetted   func(device.Source, [][]Line) // is told the texts that were vetted of each file that is compiled
	Jail     jail.CommandFunc              // runs the compiler on kernels, and the simulator; nil: as they are
}

// withDefaults are the options with what was left out; Start chooses the cache.
func (o Options) withDefaults() Options {
	if o.MaxSteps == 0 {
		o.MaxSteps = defaultSteps
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Workers <= 0 {
		o.Workers = min(runtime.NumCPU(), 64)
	}
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	return o
}
