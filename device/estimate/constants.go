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
var Fitted = Constants{0.9546, 1.023, 2.986, 0.7959, 1, 1, 0.6488, 0.9299, 0.59, 7.897, 1.426, 3.14, 0.01062, 33.97, 19.04, 6.248, 1.619, 33.87, 5.713, 0.3071, 7.411, 3.014, 102.4}
