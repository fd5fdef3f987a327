package estimate

// Constants are what was fitted to times of a GPU: the same for every kernel.
type Constants [constants]float64

// The constants.
const (
	Device         = iota // how much of each rate is reached
	L2                    //
	Partial               // for a byte of a sector that is not written whole, in bytes
	Scatter               // passes for a sector beyond those that were asked for
	Shared                //
	Issue                 //
	Product               // mma.sync
	Group                 // wgmma
	Plain                 // instructions for an operation
	Special               // for a division, a root, a mathematical function
	Request               // for an access of memory: its address, too
	Step                  // for a basic block
	Code                  // for an instruction of the simulator's processor
	LatencyDevice         // clocks that a warp waits, less what it asks for meanwhile
	LatencyCache          //
	LatencyShared         //
	LatencyPlain          //
	LatencyBarrier        //
	LatencyProduct        //
	Phases                // how much of a block's resources wait for each other
	Power                 // how much resources overlap: with a large one, wholly
	Launch                // of a launch's time
	Registers             // of a thread, where no launch bounds tell
	constants
)

// Fitted are the constants as fitted to an H200.
var Fitted = Constants{0.9, 0.8, 1.5, 0.75, 0.8, 0.8, 0.6, 0.8, 0.55, 8, 2, 3, 0.02, 100, 10, 8, 2, 30, 10, 0.7, 3, 1.5, 64}
