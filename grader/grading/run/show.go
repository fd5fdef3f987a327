package run

import (
	"fmt"
	"strconv"
	"strings"

	"flashlab/device"
	"flashlab/device/trace"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/grading/wire"
)

// Only makes the devices show the printf of one thread, one block or one thread
// of one block: "3,0,0", or "" for any. Only the simulator can.
func (d Devices) Only(thread, block string) (Devices, error) {
	if thread == "" && block == "" {
		return d, nil
	}
	var err error
	if d.Show.Thread, err = parseIndex("thread", thread); err != nil {
		return d, err
	}
	if d.Show.Block, err = parseIndex("block", block); err != nil {
		return d, err
	}
	if d.Asked == device.CUDA {
		return d, fmt.Errorf("-thread and -block: a GPU prints for all threads; use DEVICE=sim, or write the if into the kernel")
	}
	if d.Kind == device.CUDA {
		if d.NoSim != "" {
			return d, fmt.Errorf("-thread and -block need the simulator, because a GPU prints for all threads: %s", d.NoSim)
		}
		d.Kind, d.GPU, d.Toolkit = device.Sim, "", nil
		d.Why = "only it can show one thread's printf"
	}
	return d, nil
}

// parseIndex reads "3,0,0"; what is missing is zero.
func parseIndex(what, s string) (*[3]int, error) {
	if s == "" {
		return nil, nil
	}
	var index [3]int
	parts := strings.Split(s, ",")
	for i, p := range parts {
		n, err := strconv.ParseUint(strings.TrimSpace(p), 10, 31)
		if i >= len(index) || err != nil {
			return nil, fmt.Errorf("-%s %s: want its x, y and z, like 3,0,0", what, s)
		}
		index[i] = int(n)
	}
	return &index, nil
}

// index writes what parseIndex reads.
func index(i *[3]int) string {
	if i == nil {
		return ""
	}
	return fmt.Sprintf("%d,%d,%d", i[0], i[1], i[2])
}

// inWords names the threads that are shown: "thread (3,0,0) of block (0,0,0)".
func inWords(s trace.Show) string {
	var words []string
	if s.Thread != nil {
		words = append(words, "thread ("+index(s.Thread)+")")
	}
	if s.Block != nil {
		words = append(words, "block ("+index(s.Block)+")")
	}
	return strings.Join(words, " of ")
}

// What is kept of one case's prints, if it is not the only one.
const (
	keptPrints = 64
	keptBytes  = 4 << 10
)

// keepPrints puts what was printed into a case's result. A hidden case's inputs
// must not be read.
func (o Options) keepPrints(v *verdict.Outcome, res supervise.Result) {
	if v.Hidden {
		return
	}
	v.Prints, v.CutOff, v.Printed = res.Seen.Prints, res.Seen.CutOff, res.Printed
	if strings.Contains(o.Only, "/") {
		return
	}
	if len(v.Prints) > keptPrints {
		v.Prints, v.CutOff = v.Prints[:keptPrints], true
	}
	v.Printed = wire.Cut(v.Printed, keptBytes)
}
