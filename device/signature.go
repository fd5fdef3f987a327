package device

import (
	"fmt"
	"strings"
)

// ParamKind sorts a kernel's parameters by what may be passed for them.
type ParamKind int

// The kinds.
const (
	Other   ParamKind = iota // a struct, or a type this package cannot read
	Pointer                  // wants a Buffer
	Int                      // wants an integer
	Float                    // wants a float
	Map                      // wants a TensorMap
)

// Param is one parameter of a kernel.
type Param struct {
	Name string
	Type string // as written, without comments: "const float *"
	Kind ParamKind
	Size int    // bytes; 0 where unknown
	Elem string // of a Pointer: "float"; "" where unknown
	// Unsigned: an Int that holds no negative number.
	Unsigned bool
}

// Signature is a kernel's name and parameters.
type Signature struct {
	Name   string
	Params []Param
	Line   int  // where it is defined
	Empty  bool // its body has comments and blanks alone
}

func (s Signature) String() string {
	parts := make([]string, len(s.Params))
	for i, p := range s.Params {
		parts[i] = strings.TrimSpace(p.Type + " " + p.Name)
	}
	return s.Name + "(" + strings.Join(parts, ", ") + ")"
}

// Value is a checked argument: its low Size bytes, little-endian; or a TensorMap. What is
// larger than a number, or no number, a struct, is in More instead, all Size bytes.
type Value struct {
	Size int
	Bits uint64
	Map  *TensorMap
	More []byte
}

// LaunchError is a launch that was refused before anything ran.
type LaunchError struct {
	Kernel string
	Reason string
}

func (e *LaunchError) Error() string { return "launch " + e.Kernel + ": " + e.Reason }

// Is makes errors.Is(err, ErrLaunch) true.
func (e *LaunchError) Is(target error) bool { return target == ErrLaunch }

// Refuse makes a LaunchError.
func Refuse(kernel, format string, args ...any) error {
	return &LaunchError{kernel, fmt.Sprintf(format, args...)}
}
