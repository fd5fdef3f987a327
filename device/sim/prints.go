package sim

import (
	"encoding/binary"
	"fmt"
)

// Print is one printf of a kernel's thread.
type Print struct {
	Kernel        string
	Block, Thread [3]int
	Text          string
}

// Show picks the threads whose printf is kept; nil is any.
type Show struct{ Block, Thread *[3]int }

// Prints takes what kernels have printed since the last call, in the order of
// launches and blocks. Whether more was printed than is kept (64 KB) is the
// second result.
func (d *Device) Prints() ([]Print, bool, error) {
	answer, err := d.quick(opPrints)
	if err != nil {
		return nil, false, err
	}
	r := reader{rest: answer}
	more := r.u32() != 0
	prints := make([]Print, r.u32())
	for i := range prints {
		prints[i] = Print{Block: r.triple(), Thread: r.triple(), Kernel: r.text(), Text: r.text()}
	}
	if r.short {
		return nil, false, fmt.Errorf("the simulator's answer breaks off in what kernels printed")
	}
	return prints, more, nil
}

// show adds the choice to the message that configures the simulator.
func (m message) show(s Show) message {
	for _, one := range []*[3]int{s.Thread, s.Block} {
		if one == nil {
			m = append(m, 0).u32(0).u32(0).u32(0)
			continue
		}
		m = append(m, 1).u32(one[0]).u32(one[1]).u32(one[2])
	}
	return m
}

// reader takes an answer apart; past its end everything is zero, and it is short.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.rest, r.short = nil, true
		return make([]byte, 4)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) u32() int       { return int(binary.LittleEndian.Uint32(r.bytes(4))) }
func (r *reader) text() string   { return string(r.bytes(r.u32())) }
func (r *reader) triple() [3]int { return [3]int{r.u32(), r.u32(), r.u32()} }
