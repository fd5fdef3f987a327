package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// TestForgedCounts: a kernel file cannot replace the code that watches it, and calls
// by address are reported. What is to be refused may compile where a compiler gives it another name, and is watched there.
func TestForgedCounts(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	for name, c := range map[string]struct {
		before, body string
		want         string // of the error; "" if it runs
		byAddress    bool
	}{
		"a hook":              {"extern \"C\" __device__ void __tsan_write4(void *) {}", "y[0] = 1;", "the simulator's own function", false},
		"a static hook":       {"extern \"C\" { static __device__ __attribute__((noinline)) void __tsan_write4(void *p) { ((volatile float *)p)[1000] = 2; } }", "__tsan_write4(y); y[0] = 1;", "the simulator's own function", false},
		"a constructor":       {"struct S { int a; __device__ S() { a = (int)(long)this; } };\n__device__ S s;", "y[0] = s.a;", "initialised by code", false},
		"a computed value":    {"__device__ float f() { return expf(threadIdx.x); }\n__device__ float s = f();", "y[0] = s;", "initialised by code", false},
		"a constant":          {"__device__ const float s = 1 + 2.0f;", "y[0] = s;", "", false},
		"an address":          {"typedef float (*F)(float);", "F f = (F)((char *)y + 64); if (y[0] == 3.0f) y[0] = f(1);", "", true},
		"a computed goto":     {"", "void *to = y[1] == 2.0f ? &&here : y[1] == 1.0f ? &&there : (char *)y + 64; if (y[0] == 3.0f) goto *to; here: y[0] = 1; there: y[0] = 2;", "", true},
		"a function's own":    {"__device__ float f(float x) { return x + 1; }", "y[0] = f(2);", "", false},
		"a switch":            {"", "switch (blockIdx.x) { case 0: y[0] = 1; break; case 1: y[1] = 3; break; case 2: y[0] = 7; break; case 3: y[2] = 9; break; case 4: y[3] = 2; break; case 5: y[0] = 8; }", "", false},
		"mathematics at last": {"__device__ float f(float x) { return expf(x); }", "y[0] = f(f(2));", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			d.modules = nil
			text := c.before + "\nextern \"C\" __global__ void k(float *y) { " + c.body + " }\n"
			m, err := d.Compile(device.Source{Name: "k.cu", Text: text})
			if c.want != "" && err != nil {
				assert.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			if c.want != "" {
				r, _ := run(t, d, text, "k", 1)
				require.NotEmpty(t, r.Findings, "it is neither refused nor seen")
				assert.Equal(t, "out of bounds", r.Findings[0].Kind)
				return
			}
			require.NotNil(t, m)
			assert.Equal(t, c.byAddress, len(d.ByAddress()) > 0)
		})
	}
}
