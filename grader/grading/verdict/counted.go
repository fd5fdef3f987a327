package verdict

import (
	"fmt"
	"strings"
)

// Counted is what a case made the simulator do besides moving bytes. It earns no points: it says, without
// a GPU, what a kernel would keep one busy with.
type Counted struct {
	TensorCore       uint64 `json:",omitempty"` // instructions of tensor cores, by warps
	Requests, Passes uint64 // of warps to shared memory, and what these took of its banks
	Steps            uint64 // accesses, barriers and basic blocks, by threads
}

func (c Counted) String() string {
	parts := []string{number(c.Steps, "step")}
	if c.Requests > 0 {
		parts = append(parts, fmt.Sprintf("%.2f bank passes a request", float64(c.Passes)/float64(c.Requests)))
	}
	if c.TensorCore > 0 {
		parts = append(parts, number(c.TensorCore, "tensor-core instruction"))
	}
	return strings.Join(parts, ", ")
}

// number is one with commas, and its noun.
func number(n uint64, noun string) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if n == 1 {
		return s + " " + noun
	}
	return s + " " + noun + "s"
}

// Busiest is the case of a check that moved most of those whose traffic counts; "" if none was counted.
func (c Check) Busiest() (name string, what Counted) {
	var most uint64
	for _, k := range c.Cases {
		if k.Counted != nil && !k.Hidden && k.Moved >= most {
			most, name, what = k.Moved, k.Name, *k.Counted
		}
	}
	return name, what
}
