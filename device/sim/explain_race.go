package sim

import (
	"fmt"
	"strings"

	"flashlab/device/trace"
)

func (d *Device) explainRace(f *explained, raw rawFinding, m *module, what string) {
	if raw.PC == 0 { // on an mbarrier
		f.Message, f.otherLine = "race: "+raw.Text, raw.OtherLine
		f.Hint = "a barrier is needed between mbarrier.init and the first use by other threads"
		return
	}
	f.Message = "race on " + what
	file, other := d.place(raw.Module, raw.OtherPC)
	f.otherLine, f.reads = other.line, raw.Op == "read"
	f.Notes = append(f.Notes, fmt.Sprintf("thread %s %s it at %s:%d, thread %s %s it at %s:%d",
		triple(raw.OtherThread), pastWord(raw.OtherOp), file, other.line,
		triple(raw.Thread), presentWord(raw.Op), f.File, f.Line))
	f.between = raw.BlocksDiffer
	f.Sides = []trace.Side{{File: file, Line: other.line, Op: raw.OtherOp, Thread: raw.OtherThread, Block: raw.OtherBlock},
		{File: f.File, Line: f.Line, Op: raw.Op, Thread: raw.Thread, Block: raw.Block}}
	if !raw.BlocksDiffer {
		f.Sides[0].Block = raw.Block
	}
	if raw.BlocksDiffer && raw.Text == notHandedOver {
		f.Notes = append(f.Notes, fmt.Sprintf("blocks %s and %s meet at an atomic behind a fence. It makes visible what the block did before its last barrier; of what came later, only what the atomic's own thread or warp did", triple(raw.OtherBlock), triple(raw.Block)))
		f.Hint = "put a __syncthreads() between the block's writes and the atomic by which one thread announces them"
		return
	}
	if raw.BlocksDiffer && raw.Text == noFenceBehind {
		f.Notes = append(f.Notes, fmt.Sprintf("blocks %s and %s meet at an atomic, but this comes after the last fence before the atomic: a fence makes visible only what came before it", triple(raw.OtherBlock), triple(raw.Block)))
		f.Hint = "__threadfence() belongs between what the block does and the atomic: before or behind the __syncthreads() that stands there"
		return
	}
	if raw.BlocksDiffer && raw.Text != "" {
		f.Notes = append(f.Notes, fmt.Sprintf("blocks %s and %s: %s", triple(raw.OtherBlock), triple(raw.Block), raw.Text))
		f.Hint = "put a cluster.sync() between filling shared memory and a neighbour's use of it, and another before it is filled again"
		return
	}
	if raw.BlocksDiffer {
		f.Notes = append(f.Notes, fmt.Sprintf("they belong to different blocks, %s and %s: nothing orders blocks", triple(raw.OtherBlock), triple(raw.Block)))
		f.Hint = raceHint(raw, source{}, f.Line, other.line)
		return
	}
	if raw.Text != "" { // what a barrier of some threads says
		f.Notes = append(f.Notes, raw.Text+"; first seen in block "+triple(raw.Block))
		return
	}
	line, otherLine := f.Line, other.line
	if file != f.File { // no loop is around both
		line, otherLine = 0, 0
	}
	f.Hint = raceHint(raw, m.read(f.File), line, otherLine)
	missing := "no __syncthreads() between them"
	if raw.OneWarp && strings.HasPrefix(f.Hint, aBarrier) {
		missing = "no __syncwarp() or __syncthreads() between them; both threads are in one warp"
		f.Hint += ". The threads that met here are all of one warp: if that holds for every size, __syncwarp() is enough"
	}
	f.Notes = append(f.Notes, missing+"; first seen in block "+triple(raw.Block))
}

// noteRace says why what looks like a race is none.
func noteRace(f *explained, what string) {
	f.Notes = f.Notes[:1]
	if f.Kind == "flag" {
		f.Message = "a volatile flag: " + what
		f.Hint = "a fence stands on both sides of it, so what was written before is known behind: cuda::atomic_ref with release and acquire says the same in one step each"
		return
	}
	f.Message = "a plain read of what others change by atomics: " + what
	f.Hint = "the compare-and-swap that follows notices a value that is out of date: as a first guess it may be read so"
}
