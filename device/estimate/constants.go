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
var Fitted = Constants{0.9455, 1.038, 3.038, 0.7464, 1, 1, 0.6501, 0.9347, 0.5839, 7.735, 1.438, 3.14, 0.0106, 34.04, 18.57, 6.167, 1.638, 33.69, 5.614, 0.3134, 7.581, 2.806, 102.4}
