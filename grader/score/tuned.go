package score

import (
	"time"

	"flashlab/grader/wire"
)

// Tuned is what came of one choice of tiles.
type Tuned struct {
	Tiles     wire.Tiles
	Wrong     string        // why it is out: refused, or not right
	Ratio     float64       // bytes moved over the least, in the simulator
	Conflicts float64       // passes of the banks for a request
	Passes    uint64        // of the banks in all
	Time      time.Duration // of a call, on a GPU
	TFLOPS    float64       // from it
}
