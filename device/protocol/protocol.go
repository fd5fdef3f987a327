// Package protocol is how devices are spoken to from another process: the
// simulator's own (device/sim, whose side of it is runtime/server.cpp), and a
// worker's (device/remote).
//
// A message is the length of the rest (4 bytes), an operation or a status (1 byte)
// and a body. Every number of a body has 8 bytes, the lowest first; a text is its
// length and its bytes; a list its length and its items. The bytes of a copy come
// last and fill the message.
//
// Each answer follows its request. Nothing that is read is believed: a length is
// held against the message, and the message's against a bound, before anything is
// allocated for it.
package protocol

// Op says what is asked for.
type Op byte

// What is asked of every device. runtime/server.cpp has the same numbers.
const (
	OpAllocate   Op = 1 + iota // Memory, its address left out; the answer is the address
	OpFree                     // Memory
	OpCopyIn                   // Memory, Data
	OpCopyOut                  // Memory; the answer is Data
	OpSet                      // Fill
	OpPoison                   // Memory
	OpKernel                   // Named; the answer is a number, and in device/remote its Signature
	OpLaunch                   // Launch
	OpAttributes               // a kernel's number; the answer is Attributes
)

// What only the simulator's process is asked, by device/sim.
const (
	OpConfigure Op = 10 + iota
	OpLoad
	OpReport
	OpReset
	OpPrints
)

// What only the server of device/remote is asked.
const (
	OpInfo    Op = 20 + iota // the answer is Info
	OpCompile                // Source; the answer is the module's number
	OpCubin                  // Source, Text (an architecture); the answer is Data
	OpSync
)

// Status says what came of it.
type Status byte

// The answers: the body of OK is what was asked for; that of Failed a Failure, by
// device/remote; that of the others a text, by the simulator.
const (
	OK Status = iota
	Refused
	Stopped
	NoMemory
	Failed
)

// Bounds on what is sent and received, in bytes.
const (
	Chunk      = 64 << 20  // of a copy in one message
	maxMessage = 128 << 20 // a copy with its head, or a long report
	MaxRequest = 4 << 20   // that carries no copy: a source is the longest
)
