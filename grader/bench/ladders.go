package bench

import (
	"fmt"
	"strings"

	"flashlab/grader/grading/race"
	"flashlab/grader/tasks/b1"
	"flashlab/grader/tasks/b2"
	"flashlab/grader/tasks/b3"
	"flashlab/grader/tasks/b4"
	"flashlab/grader/tasks/b5"
	"flashlab/grader/tasks/b6"
	"flashlab/grader/tasks/b7"
	"flashlab/grader/tasks/b8"
	"flashlab/grader/tasks/task2"
	"flashlab/grader/tasks/task4"
	"flashlab/grader/tasks/task5"
)

// Ladder is the versions of one kind of kernel, from the textbook's to the solution's. All are timed
// on one workload, which is not so large that the first takes minutes.
type Ladder struct {
	Name     string
	Workload race.Workload
	Rungs    []Rung
}

// Rung is a version that changes this kind of kernel.
type Rung struct {
	Version string // its folder in solution/_versions; "" is the solution itself
	Idea    string // what is new
	Bound   string // what holds it
	// Inexact is the largest error of a row that this rung is known to make, relative to the row's
	// size, where that is more than the judge allows. The rung is timed all the same.
	Inexact float64
}

// Ladders are all there are, in the order of the tasks.
func Ladders() []Ladder {
	return []Ladder{
		{"softmax", task2.SoftmaxOf(1<<16, 4096, "softmax"), []Rung{
			{Version: "1_naive", Idea: "a thread for each row", Bound: "a warp's 32 rows lie in 32 lines, and each element takes five accesses"},
			{Version: "2_shared", Idea: "a block for each row", Bound: "instructions: the multiprocessors are 83 % busy"},
			{Version: "3_registers", Idea: "maxima and sums by shuffles", Bound: "instructions still, 79 % busy, one element at a time"},
			{Version: "4_quads", Idea: "rows in registers, 32 loads before the first use", Bound: "memory, by 4 bytes a load"},
			{Version: "5_halves", Idea: "four elements a load, which no cache keeps", Bound: "memory: a copy's rate"},
		}},
		{"product", task2.GemmOf(1, 2048, 2048, 2048, false, "matmul"), []Rung{
			{Version: "1_naive", Idea: "a thread for each result", Bound: "two loads for each multiply-add"},
			{Version: "2_shared", Idea: "tiles in shared memory", Bound: "two reads of shared memory for each multiply-add"},
			{Version: "3_registers", Idea: "4 × 4 results a thread, in registers", Bound: "8 reads of shared memory for 16 multiply-adds"},
			{Version: "4_quads", Idea: "8 × 8 results a thread, read by fours", Bound: "float32's plain units, idle while a slab is staged"},
			{Version: "5_halves", Idea: "tensor cores, each number rounded to a half", Bound: "the staging of slabs, which nothing overlaps", Inexact: 1e-3},
			{Idea: "tensor cores, each number split into two halves", Bound: "three products in place of one, and the splitting"},
		}},
		{"flash", task4.AttentionOf(4, 2048, false, "sdpa"), []Rung{
			{Version: "1_rows", Idea: "a warp for each query, key by key", Bound: "every query reads all keys and values itself"},
			{Version: "2_shared", Idea: "tiles of keys and values in shared memory", Bound: "two reads of shared memory for each multiply-add of a score"},
			{Version: "3_registers", Idea: "squares of scores and output in registers", Bound: "8 reads of shared memory for 16 multiply-adds, one number each"},
			{Version: "4_quads", Idea: "shared memory is read by fours", Bound: "reads of shared memory, and the barriers around the softmax"},
			{Version: "5_halves", Idea: "tensor cores, each number rounded to a half", Bound: "the staging of tiles, which nothing overlaps", Inexact: 2e-3},
			{Version: "6_split", Idea: "each number split into two halves", Bound: "three products in place of one, and the splitting: tensor cores 36 % busy"},
			{Version: "7_async", Idea: "the next tile arrives while this one is multiplied", Bound: "reads of shared memory, twice the next rung's for a product"},
			{Idea: "32 queries a warp, rows swizzled to make room", Bound: "reads of shared memory: 60 % of what the tensor cores need"},
		}},
		{"decode", task5.SplitOf(4096, 8, "sdpa"), []Rung{
			{Version: "1_keys", Idea: "a thread for each key", Bound: "a warp's loads touch 32 lines"},
			{Version: "2_lanes", Idea: "16 or 32 lanes for each key, 16 bytes a load", Bound: "each thread waits for one key and value at a time"},
			{Version: "3_flight", Idea: "four keys and values in flight", Bound: "a second kernel that merges the parts, one after the other"},
			{Idea: "the block that finishes last merges", Bound: "memory, and 5 µs to start, to load first and to merge"},
		}},
		{"rope", b1.RopeOf(4, 1024, false), []Rung{
			{Version: "1_rows", Idea: "a warp for each query, which turns each key", Bound: "64 sines for a query and a key"},
			{Version: "2_registers", Idea: "tiles, turned as they are staged", Bound: "as task 4's second version, and a sine for each pair"},
			{Version: "3_sines", Idea: "tensor cores", Bound: "the sines: 640 instructions a thread and tile"},
			{Idea: "angles by addition, laid out for the banks", Bound: "as task 4's kernel: its rotation is 1 to 3 %"},
		}},
		{"halves", b2.HalvesOf(4, 32, 4096, 128, false, "flash", "cudnn"), []Rung{
			{Version: "1_wmma", Idea: "fragments by wmma, 16 rows a warp", Bound: "the output goes through shared memory once for every tile"},
			{Idea: "mma.sync and ldmatrix from swizzled rows", Bound: "mma.sync, which reaches some 60 % of Hopper's tensor cores"},
		}},
		{"codes", b3.BlocksOf(4, 32, 4096, 128, false, "sage"), []Rung{
			{Version: "1_dp4a", Idea: "scores of codes, four products an instruction", Bound: "no tensor cores: a probability and a value at a time"},
			{Version: "2_mma", Idea: "mma.sync of codes, a scale for each tile", Bound: "the softmax, with a conversion for each score"},
			{Idea: "sums that begin at 1.5 · 2²³", Bound: "the softmax, and p · v in halves"},
		}},
		{"projection", b4.ProjectOf(4, 512), []Rung{
			{Version: "1_three", Idea: "three products, each transposed by a kernel of its own", Bound: "six launches, and the projection is written and read again"},
			{Version: "2_split", Idea: "one product, and one kernel that splits", Bound: "the projection is written and read again"},
			{Idea: "an epilogue that adds the bias, splits and transposes", Bound: "mma.sync: half of what Hopper's own wgmma reaches"},
		}},
		{"fourbit", b5.ProjectOf("nf4", 1, 4096, 96, 8), []Rung{
			{Version: "1_plain", Idea: "a warp for each output, the table in its registers", Bound: "a shuffle, a conversion and a multiply-add for each weight"},
			{Version: "2_cores", Idea: "tensor cores, a table of pairs with a copy for each lane", Bound: "nothing is asked for while a block computes"},
			{Idea: "weights in stages by cp.async, one block a processor", Bound: "instructions: some 80 for 1024 weights"},
		}},
		{"decode16", b6.StepOf(8, 4096, "flash", "cudnn"), []Rung{
			{Version: "1_plain", Idea: "a thread for each key, then for each number", Bound: "a warp's loads touch 32 lines, for 2 bytes a thread"},
			{Version: "2_wide", Idea: "16 bytes a load", Bound: "a warp's loads touch 32 lines"},
			{Version: "3_warp", Idea: "8 or 16 lanes for each key", Bound: "each thread waits for one key and value at a time"},
			{Version: "4_packed", Idea: "all query heads of a key head in a block", Bound: "the same, and half of the processors have no block"},
			{Version: "5_split", Idea: "several blocks share the keys", Bound: "each thread waits for one key and value at a time"},
			{Version: "6_flight", Idea: "cp.async, five turns ahead", Bound: "plain units: some 75 instructions a key"},
			{Idea: "query heads as rows of products on tensor cores", Bound: "memory, and some µs to start, to load first and to merge"},
		}},
		{"kivi", b7.StepOf(4, 64, 4096), []Rung{
			{Version: "1_plain", Idea: "a thread for each key, then for each number", Bound: "a byte a load, and four heads that make numbers of the same codes"},
			{Version: "2_packed", Idea: "all query heads of a key head in a block, eight codes a load", Bound: "plain units: to unpack, and four dot products"},
			{Idea: "codes become halves once, products on tensor cores", Bound: "instructions: 777 for 32 keys, of which the codes need 420"},
		}},
		{"int4", b8.ProductOf(1, 4096, 14336), []Rung{
			{Version: "1_dequantise", Idea: "weights are written as halves, then multiplied", Bound: "four and a half times the bytes"},
			{Version: "2_warps", Idea: "nothing decoded leaves a register, warps share out k", Bound: "each thread waits for 16 bytes at a time"},
			{Version: "3_once", Idea: "two outputs a warp, 128 bytes under way a lane", Bound: "plain units: some 3.5 instructions a weight"},
			{Idea: "tensor cores, all of a block's first weights asked for at once", Bound: "memory, and some µs to start and to add"},
		}},
	}
}

// LadderNames are for a sentence.
func LadderNames() string {
	var names []string
	for _, l := range Ladders() {
		names = append(names, l.Name)
	}
	return strings.Join(names, ", ")
}

// FindLadder finds a ladder by its name.
func FindLadder(name string) (Ladder, error) {
	for _, l := range Ladders() {
		if l.Name == name {
			return l, nil
		}
	}
	return Ladder{}, fmt.Errorf("there is no ladder %q; there is %s", name, LadderNames())
}
