package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"flashlab/device"
	"flashlab/internal/frame"
)

// A timed case is a dialogue. The worker gets ready and says what it can do; then
// the grader asks for one run after another, each with its own inputs, and for rows
// of what the run wrote. It names these only when the run is over. Nothing in the
// worker knows how many runs there will be.

// Ready is the worker's first answer to a case that is Timed.
type Ready struct {
	Error   *Error `json:",omitempty"`
	Device  device.Info
	Clock   bool // the device keeps time
	Limits  device.Limits
	Free    int64  // bytes of device memory, before anything of the case was allocated
	Reads   int64  // bytes that Reading reads
	Library string // of dense products
	// NoBaseline says why there is none to compare with.
	NoBaseline string
}

// Who runs in a turn.
type Who string

// The runners.
const (
	Ours     Who = "ours"     // the submission's code
	Baseline Who = "baseline" // the course's unfused way through the vendor's library
	Wide     Who = "wide"     // the same in float32, where the baseline is not
	Copying  Who = "copy"     // a copy within the device: bytes that are known
	Adding   Who = "flops"    // multiply-adds in registers: operations that are known
	Reading  Who = "read"     // reading alone
	Tensors  Who = "tensors"  // products of halves on tensor cores, whose operands lie in registers and shared memory
)

// Turn asks for one thing.
type Turn struct {
	End  bool   `json:",omitempty"`
	Rows []int  `json:",omitempty"` // offsets of pieces of an output of the last run
	Size int    `json:",omitempty"` // of a piece
	Of   int    `json:",omitempty"` // which output's
	Who  Who    `json:",omitempty"`
	Seed uint64 `json:",omitempty"` // of this run's inputs
	// Fills is how often the cache is filled before the call, 0 for once, MostFills at
	// most: the device is busy with that while the host queues the call.
	Fills int `json:",omitempty"`
	// Slip is a mistake that is made on purpose, to show what it does to a time.
	Slip Slip `json:",omitempty"`
}

// Slip is a way to time wrongly.
type Slip string

// The slips that a worker can make.
const (
	NoSync    Slip = "nosync"    // the host's clock, stopped without waiting for the device
	HostClock Slip = "hostclock" // the host's clock, stopped after waiting
	HotCache  Slip = "hotcache"  // the inputs are still in the second-level cache
	// DirtyCache leaves the cache full of what was written: the call pays for writing it back.
	DirtyCache Slip = "dirtycache"
)

// ByHost tells that the host's clock is read, of an idle device.
func (s Slip) ByHost() bool { return s == NoSync || s == HostClock }

// MostFills bounds Turn.Fills.
const MostFills = 32

// Took is what came of a run.
type Took struct {
	Error *Error `json:",omitempty"`
	// Nanoseconds from the device's clock: Device from before the call to the end of
	// what it queued; Late from there until the whole device was found idle; and
	// Host from the host's clock, from before the call until then.
	Device, Late, Host int64
	// Queued is the host's time until the whole call was queued, and Began says that the
	// device had begun with it by then: it may have waited for the host in between.
	Queued int64
	Began  bool `json:",omitempty"`
	// Slipped is the time that the slip gives.
	Slipped int64  `json:",omitempty"`
	Bad     uint32 // elements of outputs that are NaN or infinite
	// Outside is what the code asked of its queue when no call of it was running.
	Outside string `json:",omitempty"`
}

// Pieces are rows of an output, sent as raw bytes.
type Pieces struct {
	Error *Error `json:",omitempty"`
}

// WritePieces answers a Turn with Rows.
func WritePieces(w io.Writer, p Pieces, values []float32) error {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
		return err
	}
	return frame.Write(w, p, b.Bytes())
}

// ReadPieces reads n values.
func ReadPieces(r io.Reader, n int) (Pieces, []float32, error) {
	var p Pieces
	payload, err := frame.Read(r, &p)
	if err != nil || p.Error != nil {
		return p, nil, err
	}
	if len(payload) != 4*n {
		return p, nil, fmt.Errorf("pieces of an output: got %d bytes, want %d", len(payload), 4*n)
	}
	values := make([]float32, n)
	return p, values, binary.Read(bytes.NewReader(payload), binary.LittleEndian, values)
}

// What Adding does: blocks for each processor, of so many threads, each of them so
// many rounds of AddsOfRound multiply-adds.
const (
	AddBlocks   = 16
	AddThreads  = 256
	AddRounds   = 4096
	AddsOfRound = 16
)

// AddedFLOPS is the operations of one run of Adding; a multiply-add is two.
func AddedFLOPS(processors int) float64 {
	return 2 * AddsOfRound * float64(processors) * AddBlocks * AddThreads * AddRounds
}

// What Tensors does: a block for each processor, of two warpgroups, each of them so many rounds of a product
// of 64 × 64 by 64 × 256 halves, which lie in shared memory.
const (
	TensorThreads = 256
	TensorRounds  = 4096
	TensorShared  = 2 * (2*64*64 + 64*256)
)

// TensorFLOPS is the operations of one run of Tensors.
func TensorFLOPS(processors int) float64 {
	return 2 * 64 * 64 * 256 * TensorThreads / 128 * TensorRounds * float64(processors)
}
