package sim

import (
	"slices"
	"strconv"
	"strings"
)

// work is what code computes: operations, those of them that tensor cores do, those that take a multiprocessor's
// special units or a library's code, and instructions of this machine's processor.
type work struct{ flops, matrix, special, instructions uint64 }

func (w *work) add(times uint64, o work) {
	w.flops += times * o.flops
	w.matrix += times * o.matrix
	w.special += times * o.special
	w.instructions += times * o.instructions
}

// work adds up what the basic blocks of a kernel computed. A call to a
// mathematical function counts as one operation, fma as two.
func (d *Device) work(blocks [][3]uint64) (sum work) {
	for _, b := range blocks {
		if m := d.module(int(b[0])); m != nil {
			sum.add(b[2], m.machineCode().workFrom(b[1]))
		}
	}
	return sum
}

// workFrom counts what runs as often as a hook did, given the address after its
// call. That is the piece that follows, and everything reached from there without
// another hook, because the bounds checks' own branches are inside a block. A piece that
// ends at another hook runs as often as that hook, and belongs to it. In the same way,
// code before this hook's call belongs to this hook: compilers move arithmetic there.
func (c *code) workFrom(at uint64) work {
	if known, ok := c.totals[at]; ok {
		return known
	}
	sum := c.before[at]
	seen := map[uint64]bool{}
	todo := []uint64{at}
	for len(todo) > 0 {
		from := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		p := c.pieces[from]
		if p == nil || seen[from] || p.hooked && from != at {
			continue
		}
		seen[from] = true
		sum.add(1, p.work)
		todo = append(todo, p.next...)
	}
	c.totals[at] = sum
	return sum
}

// callCost is what a call computes.
func callCost(name string) work {
	w := work{flops: callOperations(name), instructions: 1}
	switch {
	case strings.HasPrefix(name, "simt_multiply_"):
		w.matrix = w.flops
	case w.flops == 1:
		w.special = 1
	}
	return w
}

func callOperations(name string) uint64 {
	if library, ok := strings.CutPrefix(name, "__wrap_"); ok && slices.Contains(libraryPointers, strings.TrimSuffix(library, "f")) {
		return 1
	}
	products, isMatrix := strings.CutPrefix(name, "simt_multiply_")
	products, _, _ = strings.Cut(products, "_") // simt_multiply_64_half: a lane's share
	n, _ := strconv.ParseUint(products, 10, 64)
	switch {
	case isMatrix: // by a tensor core
		return 2 * n
	case name == "simt_fma": // of halves
		return 2
	case name == "" || strings.HasPrefix(name, "_") || strings.HasPrefix(name, "simt_") || strings.HasPrefix(name, "mem"):
		return 0
	case name == "fmaf" || name == "fma":
		return 2
	case name == "fmaxf" || name == "fminf" || name == "fmax" || name == "fmin" || name == "fabsf":
		return 0
	}
	return 1
}
