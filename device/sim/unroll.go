package sim

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// A tile of registers is a local array whose loops the compiler is to unroll: then each
// element is a variable. Where it stays an array, every multiply-add is four accesses of local
// memory, which the simulator has to tell from others. nvcc unrolls such loops, and puts
// functions into each other. With Options.Unroll so do the compilers here, before they
// instrument what is left. A kernel with such tiles then takes half the time, and some more to
// compile; one without takes a little less.

// unrolling returns the compiler as it is to be used, if it understands what that takes.
func (c *compiler) unrolling(wanted bool) *compiler {
	if !wanted {
		return c
	}
	u := *c
	u.unrolls = true
	args := slices.Concat(u.unrollFlags(), []string{"-fsyntax-only", "-x", "c++", os.DevNull})
	u.unrolls = exec.CommandContext(context.Background(), c.path, args...).Run() == nil
	return &u
}

// unrollFlags make the compiler unroll loops of known length, and nothing else of what it
// does beyond -O1: an access that the source asks for once stays one.
func (c *compiler) unrollFlags() []string {
	switch {
	case !c.unrolls:
		return nil
	case c.clang:
		return []string{"-funroll-loops"}
	}
	flags := []string{"-O3", // g++ unrolls before it instruments at no less
		"--param=max-completely-peeled-insns=400", "--param=max-completely-peel-times=32",
		// Kernels' functions are one file's: nobody puts others in their place. What nvcc would
		// inline is larger than what g++ does by itself.
		"-fno-semantic-interposition", "--param=max-inline-insns-auto=200",
		"-freorder-blocks-algorithm=simple"}
	for _, name := range strings.Fields(beyondO1) {
		flags = append(flags, "-fno-"+name)
	}
	return flags
}

// beyondO1 is what -O3 switches on and -O1 does not (g++ 12, -Q --help=optimizers), but for
// inlining. A g++ that lacks one of them does not unroll.
const beyondO1 = `
	align-functions align-jumps align-labels align-loops caller-saves code-hoisting crossjumping
	cse-follow-jumps devirtualize devirtualize-speculatively expensive-optimizations gcse
	gcse-after-reload hoist-adjacent-loads indirect-inlining ipa-bit-cp ipa-cp ipa-cp-clone ipa-icf
	ipa-icf-functions ipa-icf-variables ipa-ra ipa-sra ipa-vrp isolate-erroneous-paths-dereference
	loop-interchange loop-unroll-and-jam lra-remat optimize-strlen partial-inlining peel-loops
	peephole2 predictive-commoning ree reorder-blocks-and-partition reorder-functions
	rerun-cse-after-loop schedule-insns2 split-loops split-paths tree-loop-distribution
	tree-loop-vectorize tree-partial-pre tree-pre tree-switch-conversion tree-tail-merge tree-vrp
	unswitch-loops version-loops-for-strides`
