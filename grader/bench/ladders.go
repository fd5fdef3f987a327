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
}

// Ladders are all there are, in the order of the tasks.
func Ladders() []Ladder {
	return []Ladder{
		{"softmax", task2.SoftmaxOf(1<<16, 4096, "softmax"), []Rung{
			{"1_naive", "a thread for each row", "a warp's 32 rows lie in 32 lines, and each element takes five accesses"},
			{"2_shared", "a block for each row", "nothing is asked for while a block waits in two trees of barriers"},
			{"3_registers", "rows in registers, sums by shuffles", "memory: a thread asks for 32 elements before it uses one"},
		}},
		{"product", task2.GemmOf(1, 2048, 2048, 2048, false, "matmul"), []Rung{
			{"1_naive", "a thread for each result", "two loads for each multiply-add"},
			{"2_shared", "tiles in shared memory", "two reads of shared memory for each multiply-add"},
			{"3_registers", "4 × 4 results a thread, in registers", "8 reads of shared memory for 16 multiply-adds"},
			{"", "tensor cores, each number split into two halves", "three products in place of one, and the splitting"},
		}},
		{"flash", task4.AttentionOf(4, 2048, false, "sdpa"), []Rung{
			{"1_rows", "a warp for each query, key by key", "every query reads all keys and values itself"},
			{"2_registers", "tiles in shared memory, squares of scores in registers", "reads of shared memory, and the barriers around the softmax"},
			{"", "tensor cores, each number split into two halves", "reads of shared memory: 60 % of what the tensor cores need"},
		}},
		{"decode", task5.SplitOf(4096, 8, "sdpa"), []Rung{
			{"1_keys", "a thread for each key", "a warp's loads touch 32 lines"},
			{"2_groups", "16 or 32 lanes for each key, four keys in flight", "a second kernel that merges the parts, one after the other"},
			{"", "the block that finishes last merges", "memory, and 5 µs to start, to load first and to merge"},
		}},
		{"rope", b1.RopeOf(4, 1024, false), []Rung{
			{"1_rows", "a warp for each query, which turns each key", "64 sines for a query and a key"},
			{"2_registers", "tiles, turned as they are staged", "as task 4's second version, and a sine for each pair"},
			{"3_sines", "tensor cores", "the sines: 640 instructions a thread and tile"},
			{"", "angles by addition, laid out for the banks", "as task 4's kernel: its rotation is 1 to 3 %"},
		}},
		{"halves", b2.HalvesOf(4, 32, 4096, 128, false, "flash", "cudnn"), []Rung{
			{"1_wmma", "fragments by wmma, 16 rows a warp", "the output goes through shared memory once for every tile"},
			{"", "mma.sync and ldmatrix from swizzled rows", "mma.sync, which reaches some 60 % of Hopper's tensor cores"},
		}},
		{"codes", b3.BlocksOf(4, 32, 4096, 128, false, "sage"), []Rung{
			{"1_dp4a", "scores of codes, four products an instruction", "no tensor cores: a probability and a value at a time"},
			{"2_mma", "mma.sync of codes, a scale for each tile", "the softmax, with a conversion for each score"},
			{"", "sums that begin at 1.5 · 2²³", "the softmax, and p · v in halves"},
		}},
		{"projection", b4.ProjectOf(4, 512), []Rung{
			{"1_three", "three products, each transposed by a kernel of its own", "six launches, and the projection is written and read again"},
			{"2_split", "one product, and one kernel that splits", "the projection is written and read again"},
			{"", "an epilogue that adds the bias, splits and transposes", "mma.sync: half of what Hopper's own wgmma reaches"},
		}},
		{"fourbit", b5.ProjectOf("nf4", 1, 4096, 96, 8), []Rung{
			{"1_plain", "a warp for each output, the table in its registers", "a shuffle, a conversion and a multiply-add for each weight"},
			{"2_cores", "tensor cores, a table of pairs with a copy for each lane", "nothing is asked for while a block computes"},
			{"", "weights in stages by cp.async, one block a processor", "instructions: some 80 for 1024 weights"},
		}},
		{"decode16", b6.StepOf(8, 4096, "flash", "cudnn"), []Rung{
			{"1_plain", "a thread for each key, then for each number", "a warp's loads touch 32 lines, for 2 bytes a thread"},
			{"2_wide", "16 bytes a load", "a warp's loads touch 32 lines"},
			{"3_warp", "8 or 16 lanes for each key", "each thread waits for one key and value at a time"},
			{"4_packed", "all query heads of a key head in a block", "the same, and half of the processors have no block"},
			{"5_split", "several blocks share the keys", "each thread waits for one key and value at a time"},
			{"6_flight", "cp.async, five turns ahead", "plain units: some 75 instructions a key"},
			{"", "query heads as rows of products on tensor cores", "memory, and some µs to start, to load first and to merge"},
		}},
		{"int4", b8.ProductOf(1, 4096, 14336), []Rung{
			{"1_dequantise", "weights are written as halves, then multiplied", "four and a half times the bytes"},
			{"2_warps", "nothing decoded leaves a register, warps share out k", "each thread waits for 16 bytes at a time"},
			{"3_once", "two outputs a warp, 128 bytes under way a lane", "plain units: some 3.5 instructions a weight"},
			{"", "tensor cores, all of a block's first weights asked for at once", "memory, and some µs to start and to add"},
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
