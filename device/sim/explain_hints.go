package sim

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// boundsHint says where to look for an index that is out of bounds. It speaks of the last block only to
// a thread of that one.
func boundsHint(raw rawFinding) string {
	switch {
	case raw.Name == "" && raw.Space == "none" && strings.Contains(raw.Note, "null"):
		return "a pointer that nobody has set: compare the launch's arguments with the kernel's parameters"
	case raw.Name == "" && raw.Space == "none":
		return "it is far from every array: is it a pointer of the host's, or was the index never set?"
	case raw.Name == "":
		return "compare the index with the size of the thread's own array"
	case raw.Offset < 0:
		return negativeIndex
	case raw.Dynamic && raw.Size == 0:
		return "an extern __shared__ array has the bytes that the launch asks for: device.Launch{Shared: …}"
	case raw.Dynamic:
		return fmt.Sprintf("an extern __shared__ array has as many bytes as the launch asks for, here %d: device.Launch{Shared: …} counts bytes, not elements", raw.Size)
	case raw.Space != "global":
		return "compare the index with the array's size: are there more threads, or rounds of a loop, than elements?"
	}
	for i, n := range raw.Grid {
		if n > 1 && raw.Block[i] == n-1 {
			return "compare the index with the size: the last block may reach beyond the end"
		}
	}
	if raw.Thread == [3]int{} && raw.Block == [3]int{} {
		return "this is the very first thread, so a missing check for the last threads is not the cause: how is the index computed?"
	}
	return "compare the index with the size; in a loop over tiles, above all in the last tile, which may be partial"
}

const endlessHint = "does what ends the loop change in every round, and towards its bound? If another thread is to change it, can that one still get there?"

// firstDimension is what an index was compared with: 'float [3][16]'.
var firstDimension = regexp.MustCompile(`\[(\d+)\]`)

func dimensionHint(text string) string {
	hint := "the index is outside its own dimension, even if the address is still inside the array"
	if m := firstDimension.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			return fmt.Sprintf("%s: it may be 0 to %d", hint, n-1)
		}
	}
	return hint
}

const negativeIndex = "the index is negative: i - 1 at i = 0, say. Compare it with 0 as well"

// spreadReadFirst marks, beside the two writes of threads that read a place, change it and write it back,
// the races of these reads.
func (d *Device) spreadReadFirst(all []rawFinding) {
	type line struct {
		kernel, variable string
		between          bool
		row
	}
	sides := func(f rawFinding) (now, other line) {
		at := func(pc uint64) line {
			_, r := d.place(f.Module, pc)
			return line{f.Kernel, f.Owner + "::" + f.Name, f.BlocksDiffer, row{line: r.line}}
		}
		return at(f.PC), at(f.OtherPC)
	}
	writes := map[line]bool{}
	for _, f := range all {
		if f.Kind == "race" && f.ReadFirst {
			now, other := sides(f)
			writes[now], writes[other] = true, true
		}
	}
	for i, f := range all {
		if f.Kind != "race" || len(writes) == 0 {
			continue
		}
		now, other := sides(f)
		all[i].ReadFirst = f.Op == "write" && writes[now] || f.OtherOp == "write" && writes[other]
	}
}

// spreadWarps leaves a race within one warp only where no other race on the same variable is of two: fold keeps one of
// them, and what its hint says has to do for all.
func spreadWarps(all []rawFinding) {
	type variable struct{ kernel, owner, name string }
	of := func(f rawFinding) variable { return variable{f.Kernel, f.Owner, f.Name} }
	across := map[variable]bool{}
	for _, f := range all {
		if f.Kind == "race" && !f.OneWarp {
			across[of(f)] = true
		}
	}
	for i, f := range all {
		all[i].OneWarp = f.OneWarp && !across[of(f)]
	}
}

// aBarrier begins each hint to put one somewhere.
const aBarrier = "a barrier is needed "

// raceHint says what ends a race, by what the two accesses are. Lines are of one file, or 0.
func raceHint(raw rawFinding, code source, line, other int) string {
	shared := raw.Space == "shared"
	switch {
	case raw.Op == "atomic" || raw.OtherOp == "atomic":
		return atomicHint(raw)
	case raw.ReadFirst && raw.BlocksDiffer:
		return "each block reads it, changes it and writes it back, and overwrites what others wrote meanwhile: use an atomic (atomicAdd for a sum), or give each block a place of its own and add these up in a second kernel"
	case raw.ReadFirst:
		return "each thread reads it, changes it and writes it back, and overwrites what others wrote meanwhile: use an atomic (atomicAdd for a sum), or a reduction in which each thread has a place of its own"
	case raw.BlocksDiffer && raw.Op != raw.OtherOp:
		return "no barrier waits for another block: let each block compute what it reads, or let a second kernel read it"
	case raw.BlocksDiffer && raw.Elsewhere:
		return "each element needs one block that writes it: is blockIdx in the index?"
	case raw.BlocksDiffer:
		return "each element needs one block that writes it: is blockIdx in the index? If it is one result of all blocks, let a single block write it"
	case raw.Op != raw.OtherOp && raw.Op == "read":
		return barrierHint(shared, code, line, other, false)
	case raw.Op != raw.OtherOp:
		return barrierHint(shared, code, other, line, true)
	case line != other || line == 0:
		return "two threads write the same place: only one of them should. If the later write is meant to win, put a barrier between them"
	case raw.Elsewhere:
		return "two threads write the same element, here and elsewhere: make the index give each thread its own elements" + inLoop(code, line)
	}
	return "several threads write this one place: let one of them do it, as in if (threadIdx.x == 0)"
}

func inLoop(code source, line int) string {
	if _, loops := code.loopAround(line, line); loops {
		return ", or if they meet in different rounds of the loop, a barrier is needed at the end of each round"
	}
	return ""
}

func atomicHint(raw rawFinding) string {
	switch {
	case raw.BlocksDiffer && (raw.Op == "read" || raw.OtherOp == "read"):
		return "the other blocks' atomics may be yet to come: let a second kernel read the result"
	case raw.BlocksDiffer:
		return "set its first value before the launch, or with an atomic too: other blocks may already be changing it"
	case raw.Op == "read" || raw.OtherOp == "read":
		return aBarrier + "between the atomics and the plain read"
	}
	return aBarrier + "between the plain write and the atomics"
}

// barrierHint says where a barrier is missing between a read and a write, in the next round of a loop too.
// Where the two are in different functions, what is known is which came first.
func barrierHint(shared bool, code source, read, write int, readFirst bool) string {
	data := "shared data"
	if !shared {
		data = "this memory"
	}
	fill := aBarrier + fmt.Sprintf("between filling %s and using it", data)
	use := aBarrier + fmt.Sprintf("between the last use of %s and overwriting it", data)
	plain := func(line int) int { return line % headerLines }
	loop, loops := code.loopAround(plain(read), plain(write))
	if read == 0 || write == 0 || !code.inOneBody(plain(read), plain(write)) {
		if readFirst {
			return use
		}
		return fill + "; or, in a loop, between using it and filling it again"
	}
	if read == write {
		in, _ := code.barriers(loop)
		switch first := "read what other threads write into a variable first, then __syncthreads(), then write"; {
		case !loops || in:
			return first
		default:
			return aBarrier + "at the end of each round of the loop; where a round reads what it also writes, " + first
		}
	}
	hint, ends := fmt.Sprintf("%s: between line %d and line %d", fill, write, read), fmt.Sprintf("line %d of the next round writes what line %d of this one reads", write, read)
	if read < write {
		hint, ends = fmt.Sprintf("%s: between line %d and line %d", use, read, write), fmt.Sprintf("line %d of the next round reads what line %d of this one writes", read, write)
	}
	if !loops {
		return hint
	}
	between, unclear := code.barriers(stretch{min(plain(read), plain(write)), max(plain(read), plain(write))})
	inside, _ := code.barriers(loop)
	switch end := aBarrier + "at the end of the loop's round: " + ends; {
	case between:
		return end
	case unclear:
		return hint + "; or " + strings.TrimPrefix(end, aBarrier)
	case !inside:
		return hint + "; and at the end of the round, if " + ends
	}
	return hint
}
