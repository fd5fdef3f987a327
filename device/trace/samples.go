package trace

// Samples are what the pictures of one kernel are drawn from, where sim.Options asks for them. They
// are bounded: a few instructions, arrays and stretches of time are left out of a large kernel.
type Samples struct {
	Banks      []BankRequest // the worst request of each instruction on shared memory
	Arrays     []ArrayUse    // of device memory
	MoreArrays bool          // there were more
	Timeline   *Timeline     // of one block of the first launch
}

// BankRequest is a request of one warp for shared memory.
type BankRequest struct {
	File    string
	Line    int
	Op      string // "read", "write", "atomic"
	Bytes   int    // that a lane asked for
	Passes  int    // of the 32 banks
	Block   int    // its linear number
	Warp    int
	Array   string
	Dims    []int // of the array, as the source declares it; none where that is not known
	Element int   // bytes of one of its elements
	Lanes   [32]int64
}

// NoLane stands in BankRequest.Lanes for a lane that took no part; the others are offsets in bytes.
const NoLane = -1

// ArrayUse is how often warps read and wrote the parts of an array, in the order of memory.
type ArrayUse struct {
	Name  string
	Bytes int
	Part  int // bytes of each part
	Runs  []ArrayRun
}

// ArrayRun are parts beside each other that were used alike. A word of 4 bytes that several lanes
// of one request ask for is read once.
type ArrayRun struct {
	Parts            int
	Read, Written    uint64 // words of each part, again and again
	Readers, Writers int    // blocks
}

// Timeline is one block, barrier by barrier.
type Timeline struct {
	Block     int // its linear number
	Threads   int
	File      string
	Stretches []Stretch
	Left      int // stretches that are not kept
}

// Stretch is what came before one barrier.
type Stretch struct {
	Line  int // of the barrier; 0 is the end of the block
	Warps []WarpStretch
}

// WarpStretch is what one warp did then.
type WarpStretch struct {
	Longest  uint64 // steps of the lane that took most
	Requests uint64 // for memory
	Lanes    uint64 // that made them, in all
	Apart    uint32 // the lanes of the request that fewest made, if not all did
	File     string // where that was
	Line     int
}
