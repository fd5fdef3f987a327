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
		{`asm volatile("tcgen05.fence::before_thread_sync;");`, "no PTX instruction tcgen05.fence::before_thread_sync: it needs Blackwell"},
		{`asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%0}, %1, %1, %1, 0, 1, 1, 1, 0, 0;" : "+r"(n) : "l"(y));`, "m64n8k16 to m64n256k16 of f16"},
		{`asm volatile("{ .reg .f32 d<4>; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, %0, %0, 1, 1, 1, 0, 0; }" :: "l"(y));`, "its sums have to be operands of the asm"},
		{`asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], 16, [%0];" :: "r"(n), "r"(n));`, "use red.global.add, or copy and add"},
		{`asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%1], [%0], 16;" :: "r"(n), "l"(y));`, "cp.reduce.async.bulk"},
		{`asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(y));`, "count the arrivals yourself"},
		{`asm volatile("setmaxnreg.sync.aligned.u32 232;");`, "it is setmaxnreg.inc or setmaxnreg.dec"},
		{`asm volatile("setmaxnreg.dec.sync.aligned.u32 100;");`, "it takes a multiple of 8"},
		{`asm volatile("barrier.red.popc.u32 %0, 1, 1;" : "=r"(n));`, "sync and arrive of a barrier"},
		{`asm volatile("cp.async.cg.shared.global [%0], [%1], 8;" :: "r"(n), "l"(y));`, "it copies 16 bytes"},
		{`asm volatile("cvt.rn.satfinite.e4m3x2.bf16x2 %0, %1;" : "=h"(h) : "r"(n));`, "cvt.rn.satfinite.e4m3x2.bf16x2: .bf16x2 is not served"},
		{`asm volatile("nop_of_mine %0;" : "=r"(n));`, "no PTX instruction nop_of_mine: write it in CUDA C++"},
		{`asm volatile("LOOP: bra LOOK;");`, "bra LOOK: there is no such label"},
		{`asm volatile("add.u32 %0, %1, %7;" : "=r"(n) : "r"(n));`, "no PTX register %7"},
		{`asm volatile("add.u32 %0, %1;" : "=r"(n) : "r"(n));`, "add.u32 takes 3 operands, not 2"},
		{`asm volatile("mov.u32 %0, 1" : "=r"(n));`, "no ; behind 'mov.u32"},
		{`asm volatile("mov.u32 %0, 1;" : "=x"(n));`, `no operands of constraint "=x"`},
		{`asm volatile(".byte 0x90;");`, "is not understood"},
		{`asm volatile("syscall;");`, "no PTX instruction syscall"},
		{`asm volatile("mov.u32 %0, %1;" : "=r"(n) : "r"(({ asm volatile("syscall"); 1; })));`, "an asm in the operands of another"},
		{`asm volatile("mov.u32 %0, %1;" : "=r"(n) : "r"([] { asm("syscall"); return 1; }()));`, "an asm in the operands of another"},
		{`asm volatile("" :: "r"(({ asm volatile("syscall"); 1; })));`, "an asm in the operands of another"},
		{`asm volatile("movq %%rax, %0" : "=r"(n));`, "no ; behind 'movq"},
		{`asm volatile("movq %%rax, %0;" : "=r"(n));`, "no PTX instruction movq"},
		{`asm volatile("mov.u32 %0, system(1);" : "=r"(n));`, "is no register of this asm"},
		{`asm volatile("mov.u32 %0, 1) ; (1;" : "=r"(n));`, "PTX"},
		{`asm volatile("/* */ syscall" " ;");`, "no PTX instruction syscall"},
		{`asm volatile("\n\t.section .init_array;");`, "is not understood"},
	}
	d := start(t, Options{})
	for _, c := range cases { // each in a file of its own, or one of them is refused and the others are not
		var e *device.CompileError
		require.ErrorAs(t, compile(d, kernelsWith("unsigned short h = 0; "+c[0]+" y[0] = n + h;")), &e, c[0])
		assert.True(t, slices.ContainsFunc(e.Diagnostics, func(d device.Diagnostic) bool {
			return d.Line == 3 && strings.Contains(d.Text, c[1])
		}), "%s: want %q, got\n%v", c[0], c[1], e)
	}
	// A variable named like a register of the host, or what only holds up the optimiser.
	assert.NoError(t, compile(d, kernelsWith(`asm volatile("" : "+r"(n) :: "memory"); asm volatile("" ::: "memory"); y[0] = n;`)))
}

// Every form that the README lists compiles, whether or not devicetest looks at its result.
func TestEveryFormCompiles(t *testing.T) {
	b32, b64, f32, h := `unsigned`, `unsigned long long`, `float`, `unsigned short`
	letters := map[string]string{b32: "r", b64: "l", f32: "f", h: "h", "double": "d"}
	var body strings.Builder
	form := func(kind string, operands int, ops ...string) {
		for _, op := range ops {
			list, in := "%0", ""
			for i := 1; i < operands; i++ {
				list, in = list+", %"+string(rune('0'+i)), in+", \""+letters[kind]+"\"(a)"
			}
			body.WriteString("{ " + kind + " r = 1, a = 2; asm volatile(\"" + op + " " + list + ";\" : \"=" + letters[kind] + "\"(r) : " + strings.TrimPrefix(in, ", ") + "); y[0] += (float)r; }\n")
		}
	}
	form(b32, 2, "abs.s32", "neg.s32", "not.b32", "popc.b32", "clz.b32", "brev.b32", "mov.b32", "cvt.s32.s16", "cvt.u32.u8", "cvt.rni.s32.f32", "cvt.rzi.u32.f32", "ex2.approx.f16x2", "tanh.approx.f16x2", "tanh.approx.bf16x2", "ex2.approx.ftz.bf16x2", "neg.f16x2", "abs.bf16x2", "cvt.rna.tf32.f32")
	form(b32, 3, "add.s32", "min.u32", "max.s32", "div.u32", "rem.s32", "and.b32", "or.b32", "shr.u32", "mul.lo.u32", "mul.hi.s32", "add.bf16x2", "sub.f16x2", "mul.bf16x2", "min.bf16x2", "max.NaN.f16x2", "add.sat.f16x2")
	form(b32, 4, "mad.hi.u32", "bfe.s32", "fma.rn.bf16x2", "fma.rn.f16x2", "shf.l.clamp.b32", "dp4a.u32.u32")
	form(b64, 2, "neg.s64", "abs.s64", "not.b64", "mov.u64", "brev.b64", "cvta.to.global.u64", "cvta.to.shared.u64")
	form(b64, 3, "add.s64", "sub.u64", "mul.lo.u64", "mul.hi.u64", "min.s64", "and.b64", "xor.b64", "div.s64", "rem.u64")
	form(h, 2, "neg.s16", "abs.f16", "neg.bf16", "ex2.approx.f16", "tanh.approx.bf16", "mov.b16", "cvt.u16.u16", "not.b16")
	form(h, 3, "add.u16", "add.f16", "mul.bf16", "max.f16", "min.bf16", "add.sat.f16", "and.b16", "mul.lo.s16", "min.s16")
	form(h, 4, "fma.rn.f16", "fma.rn.bf16", "mad.lo.u16")
	form(f32, 2, "rcp.rn.f32", "rcp.approx.ftz.f32", "sqrt.approx.f32", "rsqrt.approx.ftz.f32", "lg2.approx.f32", "sin.approx.f32", "cos.approx.f32", "tanh.approx.f32", "cvt.rmi.f32.f32", "cvt.sat.f32.f32", "abs.ftz.f32")
	form(f32, 3, "add.rz.f32", "mul.rm.f32", "div.approx.f32", "div.full.f32", "min.ftz.f32", "mul.ftz.f32")
	form(f32, 4, "fma.rn.ftz.f32", "fma.rn.sat.f32", "mad.rn.f32")
	form("double", 2, "abs.f64", "neg.f64", "sqrt.rn.f64", "rcp.rn.f64")
	form("double", 3, "add.f64", "sub.rn.f64", "mul.f64", "div.rn.f64", "min.f64", "max.f64")
	form("double", 4, "fma.rn.f64")
	for _, text := range []string{
		`unsigned d; bool p = false; asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; }" : "=r"(d)); y[0] += d;`,
		`unsigned d; asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %1, -1; }" : "=r"(d) : "r"(n)); y[0] += d;`,
		`unsigned d; asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; not.pred q, p; and.pred p, p, q; vote.sync.uni.pred p, p, -1; bar.red.popc.u32 %0, 0, p; }" : "=r"(d) : "r"(n)); y[0] += d;`,
		`float d = 1; asm volatile("atom.global.add.f32 %0, [%1], %0; red.relaxed.gpu.global.add.f32 [%1], %0;" : "+f"(d) : "l"(y)); y[0] += d;`,
		`unsigned d; asm volatile("atom.acq_rel.gpu.global.cas.b32 %0, [%1], 1, 2; atom.global.exch.b32 %0, [%1], %0;" : "=r"(d) : "l"(y)); y[0] += d;`,
		`double d; asm volatile("cvt.f64.f32 %0, %1; " : "=d"(d) : "f"(y[0])); float f; asm volatile("cvt.rn.f32.f64 %0, %1;" : "=f"(f) : "d"(d)); y[0] = f;`,
		`asm volatile("{ .reg .u64 pol; createpolicy.fractional.L2::evict_first.b64 pol, 1.0; ld.global.L2::cache_hint.f32 %0, [%1], pol; }" : "=f"(y[1]) : "l"(y));`,
		`asm volatile("prefetch.global.L2 [%0]; fence.sc.gpu; membar.sys; nanosleep.u32 20;" :: "l"(y));`,
		`long long d; asm("mul.wide.u32 %0, %1, 4;" : "=l"(d) : "r"(n)); char c; asm("mov.b32 %0, {%1, %1};" : "=r"(n) : "h"((short)n)); y[0] = d + n;`,
	} {
		body.WriteString("{ " + text + " }\n")
	}
	bothCompilers(t, func(t *testing.T, compiler string) {
		assert.NoError(t, compile(start(t, Options{Checks: AllChecks(), Compiler: compiler}), kernelsWith(body.String())))
	})
}
