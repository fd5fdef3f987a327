package sim

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

//go:embed testdata/ptx_bugs.cu
var ptxBugs string

func TestBugsOfInlinePTXAreFoundAtTheirLines(t *testing.T) {
	bothCompilers(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		want := wants(ptxBugs)
		for _, k := range device.ScanKernels(ptxBugs) {
			r, err := run(t, d, ptxBugs, k.Name, 1)
			w, buggy := want[k.Name]
			if !buggy {
				assert.NoError(t, err, k.Name)
				assert.Empty(t, r.Findings, k.Name)
				continue
			}
			if assert.NotEmpty(t, r.Findings, k.Name) {
				assert.Equal(t, w.Kind, r.Findings[0].Kind, "%s: %s", k.Name, r.Findings[0].Headline())
				assert.Equal(t, w.Line, r.Findings[0].Line, k.Name)
			}
		}
	})
}

// What the simulator has no PTX for is refused at its line, by its name.
func TestMissingPTXIsNamed(t *testing.T) {
	cases := [][2]string{
		{`asm volatile("wgmma.fence.sync.aligned;");`, "no PTX instruction wgmma.fence.sync.aligned: use mma.sync"},
		{`asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(n));`, "no PTX instruction mbarrier.init.shared::cta.b64: use cp.async"},
		{`asm volatile("cp.async.bulk.commit_group;");`, "no PTX instruction cp.async.bulk.commit_group: it is Hopper's"},
		{`asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");`, "setmaxnreg.inc.sync.aligned.u32: it is Hopper's; leave it out"},
		{`asm volatile("bar.sync 1, 64;");`, "bar.sync: only the barrier of the whole block"},
		{`asm volatile("cp.async.cg.shared.global [%0], [%1], 8;" :: "r"(n), "l"(y));`, "it copies 16 bytes"},
		{`asm volatile("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %1;" : "=h"(h) : "f"(y[0]));`, "cvt.rn.satfinite.e4m3x2.f32: of 8-bit"},
		{`asm volatile("nop_of_mine %0;" : "=r"(n));`, "no PTX instruction nop_of_mine: write it in CUDA C++"},
		{`asm volatile("LOOP: bra LOOP;");`, "no PTX labels and bra"},
		{`asm volatile("add.u32 %0, %1, %7;" : "=r"(n) : "r"(n));`, "no PTX register %7"},
		{`asm volatile("add.u32 %0, %1;" : "=r"(n) : "r"(n));`, "add.u32 takes 3 operands, not 2"},
		{`asm volatile("mov.u32 %0, 1" : "=r"(n));`, "no ; behind 'mov.u32"},
		{`asm volatile("mov.u32 %0, 1;" : "=x"(n));`, `no operands of constraint "=x"`},
		{`asm volatile(".byte 0x90;");`, "is not understood"},
		{`asm volatile("syscall;");`, "no PTX instruction syscall"},
	}
	var lines []string
	for _, c := range cases {
		lines = append(lines, "unsigned short h = 0; "+c[0]+" y[0] = n + h;")
	}
	d := start(t, Options{})
	for from := 0; from < len(lines); from += 8 { // a compiler's error lists 12 at most
		to := min(from+8, len(lines))
		var e *device.CompileError
		require.ErrorAs(t, compile(d, kernelsWith(lines[from:to]...)), &e)
		for i := from; i < to; i++ {
			at := slices.IndexFunc(e.Diagnostics, func(d device.Diagnostic) bool {
				return d.Line == 3+i-from && strings.Contains(d.Text, cases[i][1])
			})
			assert.GreaterOrEqual(t, at, 0, "%s: want %q, got\n%v", cases[i][0], cases[i][1], e)
		}
	}
	// A variable named like a register of the host, or what only holds up the optimiser.
	assert.NoError(t, compile(d, kernelsWith(`asm volatile("" : "+r"(n) :: "memory"); asm volatile("" ::: "memory"); y[0] = n;`)))
}
