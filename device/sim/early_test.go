package sim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// earlyReturns has kernels whose threads return before a barrier, after a store that others do behind it.
// BEFORE is declared before the branch, EARLY is stored by those who return, LATE by the others.
const earlyReturns = `__device__ __noinline__ void store(float *to, float v) { *to = v; }
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    BEFORE;
    if (t >= 40) {
        EARLY;
        return;
    }
    s[t] = x[t];
    __syncthreads();
    float late = s[39 - t];
    LATE;
}
`

// TestReturningEarlyIsNoSkip: whatever the compiler makes of a store before the return and one behind the barrier.
func TestReturningEarlyIsNoSkip(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		for _, unroll := range []bool{false, true} {
			d := start(t, Options{Checks: AllChecks(), Compiler: compiler, Unroll: unroll})
			for _, form := range [][3]string{
				{"", "y[t] = 0", "y[t] = late"},
				{"float *p = y + t", "*p = 0", "*p = late"},
				{"float *p = y + t", "*p = 1", "*p = 1"},
				{"float *p = y + t", "*p = late", "*p = late"},
				{"float v = x[t] + 1", "y[t] = v", "y[t] = v"},
				{"float v = x[t] + 1", "y[t] = v", "late += v; y[t] = late"},
				{"float v = x[t] + 1", "y[t] += v", "y[t] += late"},
				{"float v = x[t] + 1", "atomicAdd(y, v)", "atomicAdd(y, late)"},
				{"auto put = [&](float v) { y[t] = v; }", "put(0)", "put(late)"},
				{"", "*(float4 *)(y + 4 * t) = make_float4(1, 2, 3, 4)", "*(float4 *)(y + 4 * t) = make_float4(late, 2, 3, 4)"},
				{"", "store(y + t, 0)", "store(y + t, late)"},
				{"", "y[t] = x[t + 64] * 2", "y[t] = x[t + 64] * late"},
				{"", "for (int i = 0; i < 3; i++) y[t + 64 * i] = i", "for (int i = 0; i < 3; i++) y[t + 64 * i] = i"},
			} {
				text := strings.NewReplacer("BEFORE", form[0], "EARLY", form[1], "LATE", form[2]).Replace(earlyReturns)
				if form[1] == "*p = late" {
					text = strings.Replace(strings.Replace(text, "float late = s", "late = s", 1), "int t", "float late = 0; int t", 1)
				}
				r, err := run(t, d, text, "k", 1)
				assert.NoError(t, err)
				assert.Empty(t, r.Findings, "unroll %v: %v", unroll, form)
			}
		}
	})
}

// TestReturningInARoundIsNoSkip: lanes return in different rounds of a loop, after the same write. One that leaves a
// loop with a barrier and goes on is found.
func TestReturningInARoundIsNoSkip(t *testing.T) {
	const rounds = `extern "C" __global__ void before(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int round = 0;; round++) {
        if (t >= 60 - 10 * round) {
            y[t] = sum;
            return;
        }
        s[t] = x[t] + round;
        __syncthreads();
        sum += s[0];
        __syncthreads();
    }
}
extern "C" __global__ void behind(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int round = 0;; round++) {
        s[t] = x[t] + round;
        __syncthreads();
        sum += s[0];
        __syncthreads();
        if (t >= 60 - 10 * round) {
            y[t] = sum;
            return;
        }
    }
}
extern "C" __global__ void leaves_its_loop(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = t; i < 200; i += 64) {
        s[t] = x[i];
        __syncthreads();
        sum += s[t];
    }
    y[t] = sum;
}
`
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		for _, name := range []string{"before", "behind", "leaves_its_loop"} {
			r, err := run(t, d, rounds, name, 1)
			assert.NoError(t, err)
			if name == "leaves_its_loop" {
				assert.Len(t, r.Findings, 1)
				continue
			}
			assert.Empty(t, r.Findings, name)
		}
	})
}

// TestEndingBeforeABarrier: who ends while others wait has gone around the barrier, unless something in the text lets it
// leave. That is a note, or a finding where it is asked for.
func TestEndingBeforeABarrier(t *testing.T) {
	const kernels = `MACRO
__device__ void leaves(const float *x, float *s, float *y) {
    int t = threadIdx.x;
    if (t >= 40) return;
    s[t] = x[t];
    __syncthreads();
    y[t] = s[39 - t];
}
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    BODY
}
`
	const branch = "if (t < 32) { __syncthreads(); y[t] = s[63 - t]; }"
	const loop = "for (int half = 32; half > t; half /= 2) { __syncthreads(); s[t] += s[t + half]; }"
	for _, one := range []struct {
		body, macro string
		told        bool
	}{
		{branch, "", true},
		{loop, "", true},
		{"int returns = 1; " + branch + " // return", "#define BLOCK 64 // return", true},
		{"__syncthreads(); if (t < 32) { s[t] += s[t + 32]; __syncthreads(); y[t] = s[t]; }", "", true},
		{"if (t >= 32) return; __syncthreads(); y[t] = s[t]", "", false},
		{"if (t >= 32) LEAVE; __syncthreads(); y[t] = s[t]", "#define LEAVE return", false},
		{"if (t >= 32) LEAVE; __syncthreads(); y[t] = s[t]", "#define LEAVE \\\n return", false},
		{"if (t >= 32) goto end; __syncthreads(); y[t] = s[t]; end:", "", false},
		{"leaves(x, s, y)", "", false},
		{"__syncthreads(); if (t < 32) y[t] = s[63 - t]", "", false},
		{"__syncthreads(); if (blockIdx.x) { y[t] = s[t]; __syncthreads(); }", "", false},
	} {
		for _, strict := range []bool{false, true} {
			d := start(t, Options{Checks: AllChecks(), Strict: strict})
			r, err := run(t, d, strings.NewReplacer("BODY", one.body+";", "MACRO", one.macro).Replace(kernels), "k", 1)
			assert.NoError(t, err)
			told, silent := r.Notes, r.Findings
			if strict {
				told, silent = silent, told
			}
			assert.Empty(t, silent, "%s, strict %v", one.body, strict)
			if !one.told {
				assert.Empty(t, told, "%s, strict %v", one.body, strict)
			} else if assert.Len(t, told, 1, "%s, strict %v", one.body, strict) {
				assert.Contains(t, told[0].String(), "have ended without coming to it, the first is thread (")
				assert.Contains(t, told[0].Hint, "all threads reach it")
			}
		}
	}
}
