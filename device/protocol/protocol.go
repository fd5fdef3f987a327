// Package protocol is how devices are spoken to from another process: the
// simulator's own (device/sim, whose side of it is runtime/server.cpp), and a
// worker's (device/remote).
//
// A message is the length of the rest (4 bytes), an operation or a status (1 byte)
// and a body. There every number has 8 bytes, the lowest first, and so has yes or no;
// a text is its length and its bytes; a list is its length and its items; what may be
// absent is yes or no before it; and a struct is its fields in their order, which
// runtime/server.cpp knows. The bytes of a copy come last and fill the message.
//
// Each answer follows its request. Nothing that is read is trusted: before anything
// is allocated, a length is checked against the message's, and the message's own
// length against a bound.
package protocol

// Op says what is asked for.
type Op byte

// What is asked of every device. runtime/server.cpp has the same numbers.
const (
	OpAllocate   Op = 1 + iota // device.Memory, its address left out; the answer is the address
	OpFree                     // device.Memory
	OpCopyIn                   // device.Memory, Data
	OpCopyOut                  // device.Memory; the answer is Data
	OpSet                      // device.Memory, the byte's value
	OpPoison                   // device.Memory
	OpKernel                   // a module's number, a name; the answer is a number, and in device/remote the device.Signature
	OpLaunch                   // Launch
	OpAttributes               // a kernel's number; the answer is device.Attributes
)

// What only the simulator's process is asked, by device/sim.
const (
	OpConfigure Op = 10 + iota
	OpLoad         // a path, the names of constants, of those that nothing sets; the answer is the module's number
	OpReport       // the answer is JSON
	OpReset
	OpPrints   // the answer is whether there was more, and the prints
	OpVariable // a module's number, a name; the answer is the address and the bytes
)

// What only the server of device/remote is asked.
const (
	OpInfo    Op = 20 + iota // the answer is device.Info
	OpCompile                // Named; the answer is the module's number
	OpCubin                  // Named, an architecture; the answer is []device.Signature, of the text, and Data
	OpSync
	OpGive // device.Memory, which of the owner's values belong there
)

// Status says what came of it.
type Status byte

// The answers: the body of OK is what was asked for; that of Failed a Failure, by
// device/remote; that of the others bare text, by the simulator.
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
	MaxRequest = 64 << 10  // that carries no copy: names, macros, a launch's arguments
)
