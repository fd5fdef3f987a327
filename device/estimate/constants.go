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
var Fitted = Constants{0.9238, 1, 3.359, 0.5564, 1, 0.963, 0.3934, 1, 0.6131, 6.083, 1.306, 3.152, 0.008841, 17.62, 25.23, 8.223, 1.057, 67.87, 5.458, 0.3005, 12, 3.005, 102.4}
