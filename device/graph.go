package device

import (
	"errors"
	"fmt"
)

// Graph is a sequence of launches and fills that was recorded once and starts as
// one. On a GPU, a launch from Go costs some 4 µs, and a launch in a graph less than
// 1 µs. Elsewhere a graph simply repeats what was recorded.
//
// It belongs to the Device that recorded it. It holds the addresses that it was
// recorded with, not the buffers, so nothing that it uses may be freed before it.
type Graph interface {
	// Launch queues everything that was recorded, in order.
	Launch() error
	// Update records work in place of what was there: the same launches with
	// other arguments, which is cheap, or anything else. After an error the
	// graph is unchanged.
	Update(work func(q Queue) error) error
	// Close frees the graph.
	Close() error
}

// ErrNotRecordable says that a call was made, while a graph was recorded, that cannot
// become part of one.
var ErrNotRecordable = errors.New("this cannot be part of a graph")

// NotRecordable refuses a call while a graph is recorded.
func NotRecordable(call string) error {
	return fmt.Errorf("%s while a graph is recorded: %w: it holds launches and fills only, so do this before Record", call, ErrNotRecordable)
}

// Errors that all implementations of Graph share.
var (
	ErrGraphClosed = errors.New("the graph is closed")
	ErrGraphEmpty  = errors.New("record a graph: the work queued nothing on this device")
)

// Attributes are a kernel's properties after compilation. Those that a device cannot
// tell are Unknown.
type Attributes struct {
	Registers   int // of a thread
	SharedBytes int // of a block, as the code declares them
	LocalBytes  int // of a thread: arrays and spilled registers, in device memory
	MaxThreads  int // that a block may have
}

// Unknown is the value in Attributes of what a device cannot tell.
const Unknown = -1
