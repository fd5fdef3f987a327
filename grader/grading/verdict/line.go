package verdict

import "fmt"

// Line is what one line of a kernel asked of a memory in a case, in all its launches.
type Line struct {
	File     string
	Line     int
	Op       string // "read", "write", "atomic"
	Shared   bool   `json:",omitempty"` // of shared memory, not of device memory
	Requests uint64 // of warps
	Bytes    uint64 // that threads asked for
	Sectors  uint64 `json:",omitempty"` // of device memory that moved for them
	Passes   uint64 `json:",omitempty"` // of shared memory's banks that they took
}

const (
	sector = 32  // bytes: what device memory moves at once
	banks  = 128 // bytes: what shared memory gives in one pass of its banks
	alone  = 16  // bytes a request that a thread or two of a warp ask for, and the others not
)

// Would is how many sectors a request takes if neighbouring threads have neighbouring addresses.
func (l Line) Would() uint64 { return max(1, (l.Bytes/l.Requests+sector-1)/sector) }

// Why says what the line costs a case in which any kernel has to move at least so many bytes, and
// what would help; "" if there is nothing to say.
func (l Line) Why(least uint64) string {
	if l.Requests == 0 || least == 0 {
		return ""
	}
	do := l.does()
	each := float64(l.Sectors) / float64(l.Requests)
	times := float64(l.Sectors*sector) / float64(least)
	var why string
	switch {
	case each >= 2*float64(l.Would()):
		why = fmt.Sprintf("a warp's request moves %s sectors, and %d would do: neighbouring threads %s addresses that are far apart; let threadIdx.x count along the dimension whose elements lie side by side", short(each), l.Would(), do)
	case l.Bytes/l.Requests <= alone && times >= 0.5:
		why = fmt.Sprintf("a warp's request moves 32 bytes for the %d that it %ss: let all threads of the warp %s, each its own number", l.Bytes/l.Requests, do, do)
	case times >= 1.5 && do == "read":
		why = fmt.Sprintf("reads %s × the least bytes of the whole case, the same numbers again and again: keep them in shared memory or in registers, more of them at a time", short(times))
	case times >= 1.5:
		why = fmt.Sprintf("%ss %s × the least bytes of the whole case: keep sums in registers until they are final", do, short(times))
	default:
		return ""
	}
	return fmt.Sprintf("%s:%d: %s", l.File, l.Line, why)
}

func (l Line) does() string {
	if l.Op == "atomic" {
		return "change"
	}
	return l.Op
}

// needs is how many passes of the banks a request takes without any conflict.
func (l Line) needs() uint64 { return max(1, (l.Bytes/max(l.Requests, 1)+banks-1)/banks) }

// Conflicts is how many of its passes a line could do without.
func (l Line) Conflicts() uint64 {
	return l.Passes - min(l.Passes, l.Requests*l.needs())
}

// Way is how many passes a request takes for each that it needs: 32 in the worst case.
func (l Line) Way() float64 {
	return float64(l.Passes) / float64(max(1, l.Requests*l.needs()))
}

// Banks says of a line of shared memory what its conflicts cost, and what would help.
func (l Line) Banks() string {
	return fmt.Sprintf("%s:%d: a warp's request takes %s passes of shared memory's banks, and %d would do: its threads %s different rows of one bank. Make rows a little longer",
		l.File, l.Line, short(float64(l.Passes)/float64(l.Requests)), l.needs(), l.does())
}

// short writes a ratio: 32, 9.4, 1.5.
func short(x float64) string {
	if x >= 9.95 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

// Movers are the lines that moved most in the case whose traffic is worst, and why; none if nothing is
// known of any, or while a case that counts is wrong: that comes first, and costs its points for traffic.
func (c Check) Movers() (says []string) {
	worst := 0.0
	for _, k := range c.Cases {
		if k.Traffic && !k.Passed && !k.Hidden {
			return nil
		}
		if len(k.Lines) == 0 || k.Hidden || !k.Passed || k.Ratio() <= worst {
			continue
		}
		worst, says = k.Ratio(), nil
		for _, l := range k.Lines {
			if why := l.Why(k.Least); why != "" && !l.Shared {
				says = append(says, why)
			}
		}
	}
	return says
}

// Banks says which line's requests conflict most in shared memory; "" where few do.
func (c Check) Banks() (says string) {
	var most uint64
	for _, k := range c.Cases {
		for _, l := range k.Lines {
			if l.Shared && !k.Hidden && l.Conflicts() > most {
				most, says = l.Conflicts(), l.Banks()
			}
		}
	}
	return says
}
