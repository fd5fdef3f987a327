// Package problem is what the grader sends to a worker, and what comes back: a case's sizes and tensors, and its
// answer.
package problem

import (
	"fmt"
	"slices"

	"flashlab/device"
	"flashlab/tensor"
)

// NoDevice is the kind of device that tasks in plain Go run on.
const NoDevice device.Kind = "none"

// Problem is one case to run on.
type Problem struct {
	ID      int // comes back in the reply
	Op      string
	Sizes   map[string]int // its shape, by the names that the operation gives: "len"
	Causal  bool           `json:",omitempty"`
	Each    []int          `json:",omitempty"` // a number for each sequence: its length, or a position
	Refused bool           `json:",omitempty"` // something is wrong with the case: the right answer is an error
	Dist    tensor.Dist
	Seed    uint64
	// Withheld says that the inputs stay with the grader, and the seed with them: the
	// worker has the device filled with them, and gets those alone that are Given.
	Withheld bool `json:",omitempty"`
	// Recorded says that the answer is a record of what was asked for, on inputs of zeros:
	// the grader does it again on the real ones.
	Recorded bool `json:",omitempty"`
	Inputs   []Tensor
	Outputs  []Tensor
	// For tuning: sizes that the kernel is made for, and how often it is timed.
	Tiles  Tiles
	Repeat int `json:",omitempty"`
	// Timed makes the case a dialogue: see Ready.
	Timed bool `json:",omitempty"`
}

// Tiles are what a fused attention takes at a time.
type Tiles struct{ Queries, Keys int }

func (t Tiles) String() string { return fmt.Sprintf("%d×%d", t.Queries, t.Keys) }

// Tensor names one input or output of a case. An input is made from the seed,
// its distribution and its stream, on either side with the same bits; one that
// is Given has its values in the message's payload instead.
type Tensor struct {
	Name   string
	Shape  []int
	Dist   tensor.Dist `json:",omitempty"`
	Stream uint32      `json:",omitempty"`
	Type   tensor.Type `json:",omitempty"` // of its elements
	Given  bool        `json:",omitempty"`
	// Host says that the course's part of the worker needs the values, as those of tokens.
	Host bool `json:",omitempty"`
	// Changes says of an input that a call may write to it. All others must stay as they are.
	Changes bool `json:",omitempty"`
}

// Withhold is a case as the worker of a device gets it that is in the grader's hands: the
// seed, from which all inputs could be made, stays here. Without a device the inputs are
// all that the worker works on, so it gets them.
func (c Problem) Withhold(kind device.Kind) Problem {
	if c.Timed || kind == device.CUDA {
		return c
	}
	c.Seed, c.Withheld, c.Inputs = 0, true, slices.Clone(c.Inputs)
	for i := range c.Inputs {
		t := &c.Inputs[i]
		t.Stream, t.Given = 0, t.Host || kind == NoDevice && !c.Recorded
	}
	return c
}

// Names of counts.
const (
	Moved       = "moved"       // bytes that went to and from the large memory
	Nanoseconds = "nanoseconds" // the median of the calls that Repeat asked for
	Errors      = "errors"      // 1 where a case that is Refused was answered with an error
)

// Answer is what came of a case.
type Answer struct {
	Tensors []*tensor.Tensor
	Counts  map[string]uint64
	Record  []byte // of a case that is Recorded, in place of tensors
}

// Random makes an input that is not given.
func (t Tensor) Random(seed uint64) (*tensor.Tensor, error) {
	return tensor.RandomAs(t.Type, t.Dist, seed, t.Stream, t.Shape...)
}

// Elements is how many there are.
func (t Tensor) Elements() int { return tensor.Elements(t.Shape) }

// Bytes is its size on a device.
func (t Tensor) Bytes() int { return t.Type.Bytes(t.Elements()) }

// Token makes a token of a vocabulary of a uniform number in [-1, 1).
func Token(x float32, vocabulary int) int {
	return min(int((float64(x)+1)/2*float64(vocabulary)), vocabulary-1)
}

// Tokens are a case's first input, as tokens.
func Tokens(x []float32, vocabulary int) []int {
	tokens := make([]int, len(x))
	for i, v := range x {
		tokens[i] = Token(v, vocabulary)
	}
	return tokens
}
