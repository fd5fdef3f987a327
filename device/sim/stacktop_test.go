package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// fillers fill or copy to a thread's own array, more than it or the stack has.
var fillers = map[string]string{
	"memset":  "memset(mine, 1, n);",
	"memcpy":  "memcpy(mine, x, n);",
	"memmove": "memmove(mine, x, n);",
	"a loop":  "for (int i = 0; i < n; i++) ((volatile char *)mine)[i] = x[i];",
}

// TestNoCopyLeavesAThreadsStack: what begins in a thread's local memory and ends behind it is stopped before it lands,
// the last thread's, too, behind whose stack nobody's guard lies.
func TestNoCopyLeavesAThreadsStack(t *testing.T) {
	text := ""
	for name, statement := range fillers {
		text += fmt.Sprintf("// %s\nextern \"C\" __global__ void by_%c(float *y, const char *x, int n, int thread) {\n    char mine[64];\n    mine[threadIdx.x %% 64] = 0;\n"+
			"    if (threadIdx.x == thread)\n        %s\n    y[threadIdx.x] = mine[n %% 64];\n}\n", name, name[len(name)-1], statement)
	}
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		m, err := d.Compile(device.Source{Name: "k.cu", Text: text})
		require.NoError(t, err)
		b := bench{t, d, m}
		for name := range fillers {
			for _, thread := range []int32{0, 5, 1023} {
				for _, n := range []int32{300 << 10, 1 << 20} {
					require.NoError(t, d.Reset())
					x := upload(b, "x", make([]uint8, 1<<20))
					r, launched := b.try("by_"+name[len(name)-1:], device.Launch{Grid: device.D1(1), Block: device.D1(1024)}, alloc[float32](b, "y", 1024), x, n, thread)
					assert.Error(t, launched)
					if assert.NotEmpty(t, r.Findings, "%s of %d bytes by thread %d", name, n, thread) {
						assert.Equal(t, "out of bounds", r.Findings[0].Kind, "%s of %d bytes by thread %d: %s", name, n, thread, r.Findings[0].String())
					}
				}
			}
		}
	})
}
