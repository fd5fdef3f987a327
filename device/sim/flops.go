package sim

import (
	"slices"
	"strconv"
	"strings"
)

// flops adds up what the basic blocks of a kernel computed. A call to a
// mathematical function counts as one operation, fma as two.
func (d *Device) flops(blocks [][3]uint64) uint64 {
	var sum uint64
	for _, b := range blocks {
		if m := d.module(int(b[0])); m != nil {
			sum += b[2] * m.machineCode().operationsFrom(b[1])
		}
	}
	return sum
}

// operationsFrom counts what runs as often as a hook did, given the address after its
// call. That is the piece that follows, and everything reached from there without
// another hook, because the bounds checks' own branches are inside a block. A piece that
// ends at another hook runs as often as that hook, and belongs to it. In the same way,
// code before this hook's call belongs to this hook: compilers move arithmetic there.
func (c *code) operationsFrom(at uint64) uint64 {
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
		sum += p.operations
		todo = append(todo, p.next...)
	}
	c.totals[at] = sum
	return sum
}

func callCost(name string) uint64 {
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
