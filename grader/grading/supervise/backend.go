// Package supervise runs workers: it starts them, gives them a device, sends them
// cases, and ends them when they hang. Whatever a worker does, the result is an
// output or a single error.
package supervise

import (
	"net"

	"flashlab/device"
	"flashlab/device/trace"
	"flashlab/grader/grading/gate"
)

// Backend is the device that workers run on, in the grader's hands.
type Backend interface {
	// Kind is what a worker is told to open.
	Kind() device.Kind
	// Serve starts answering a worker's requests, until it hangs up. It may have these files compiled, and no others.
	Serve(conn net.Conn, kernels Kernels)
	// Observe returns what the device saw since the last call; nothing where
	// the device does not look.
	Observe() (Observed, error)
	// Expanded is what the compiler's preprocessor made of the files that were compiled.
	Expanded() []Expanded
	// Renew makes the device as new, after its worker is gone.
	Renew() error
	Close() error
}

// Kernels gives a file that a worker names, with its text, or refuses it. A worker hands over no text.
type Kernels func(named device.Source) (device.Source, error)

// vetted are kernels as they are compiled: what a worker adds to a file, macros and names, passes the gate first.
func (k Kernels) vetted(rules gate.Rules) Kernels {
	if k == nil {
		return nil
	}
	return func(named device.Source) (device.Source, error) {
		src, err := k(named)
		if err != nil {
			return src, err
		}
		return rules.VetSource(src)
	}
}

// Observed is what a device saw of the kernels.
type Observed struct {
	Measured  bool // false on a GPU: nobody looked
	Findings  []trace.Finding
	Notes     []trace.Finding // what is right, and worth a word: no points depend on it
	Counts    []trace.Counts
	Peak      uint64   // bytes of device memory that were held at once
	ByAddress []string // files whose kernels call by an address: their counts prove nothing
	Copied    uint64   // bytes that were copied from device memory to the host
	Put       uint64   // bytes that were copied from the host to device memory, without the inputs, and those that were set
	Changed   string   // an input that must stay as it is, and did not; "" for none
	Overfull  []string // what the simulator had no room to count or to judge
	Stopped   bool     // kernels had run for Enough, and no more of them were started
	Prints    []trace.Print
	CutOff    bool // kernels printed more than is kept
}

// Moved is the number of bytes that went to and from device memory. What a thread keeps in
// local arrays and no register could hold goes there once and comes back once, at the least.
func (o Observed) Moved() uint64 {
	var sectors uint64
	for _, c := range o.Counts {
		sectors += c.SectorsRead + c.SectorsWritten
	}
	return sectors*32 + 2*o.Spilled()
}

// Spilled is how much of that was in local arrays, once.
func (o Observed) Spilled() uint64 {
	var bytes uint64
	for _, c := range o.Counts {
		bytes += c.Spilled
	}
	return bytes
}

// Conflicts is how many passes of the shared memory's banks a warp's request
// took on average: 1 without any conflict, and more for wide requests.
func (o Observed) Conflicts() float64 {
	var requests, passes uint64
	for _, c := range o.Counts {
		requests += c.SharedRequests
		passes += c.SharedPasses
	}
	if requests == 0 {
		return 0
	}
	return float64(passes) / float64(requests)
}

// Passes is how many passes of the shared memory's banks there were in all.
func (o Observed) Passes() uint64 {
	var passes uint64
	for _, c := range o.Counts {
		passes += c.SharedPasses
	}
	return passes
}

// Launches is the number of kernels that ran.
func (o Observed) Launches() int {
	n := 0
	for _, c := range o.Counts {
		n += c.Launches
	}
	return n
}
