package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// Kinds of variables, three of each: whichever way a compiler lays them out, one has neighbours. Each has four numbers.
var neighbours = map[string]string{
	"zeros":      "__device__ int first_N[4], second_N[4], third_N[4];",
	"set":        "__device__ int first_N[4] = {1, 2, 3, 4}, second_N[4] = {5}, third_N[4] = {6};",
	"static":     "static __device__ int first_N[4], second_N[4], third_N[4];",
	"spaces":     "namespace a_N { __device__ int first_N[4], second_N[4], third_N[4]; } using namespace a_N;",
	"constants":  "__constant__ int first_N[4] = {1}, second_N[4] = {2}, third_N[4] = {3};",
	"managed":    "__managed__ int first_N[4], second_N[4], third_N[4];",
	"alike":      "template <int I> __device__ int like_N[4];\n#define first_N like_N<1>\n#define second_N like_N<2>\n#define third_N like_N<3>",
	"structures": "struct Four_N { int x[4]; };\n__device__ Four_N f_N, s_N, t_N;\n#define first_N f_N.x\n#define second_N s_N.x\n#define third_N t_N.x",
	"far apart":  "struct alignas(512) Wide_N { int x[4], rest[124]; };\n__device__ Wide_N w_N[3];\n__device__ int first_N[4], second_N[4], third_N[4];\n__device__ int odd_N() { return w_N[1].x[0]; }",
	"by a byte":  "__device__ char lone_N;\n__device__ int first_N[4], second_N[4], third_N[4];\n__device__ int odd_N() { return lone_N; }",
	"a function": "__device__ int *calls_N(int i) { static int first_N[4], second_N[4], third_N[4]; return i == 0 ? first_N : i == 1 ? second_N : third_N; }\n#define first_N calls_N(0)\n#define second_N calls_N(1)\n#define third_N calls_N(2)",
}

// An index in front of a variable or behind it lands in none.
func TestVariablesHaveGaps(t *testing.T) {
	bothCompilers(t, func(t *testing.T, compiler string) {
		var text strings.Builder
		var names []string
		for name, kind := range neighbours {
			n := fmt.Sprint(len(names))
			fmt.Fprintf(&text, "%s\n__global__ void k%s(int *out, int which, int at) {\n    int *p = (int *)(which == 0 ? first_N : which == 1 ? second_N : third_N);\n    out[0] = p[at];\n    if (which == 9) p[at] = 1; // a compiler makes what nobody writes a constant\n}\n",
				kind, n)
			whole := strings.ReplaceAll(text.String(), "_N", "_"+n)
			text.Reset()
			text.WriteString(whole)
			names = append(names, name)
		}
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		m, err := d.Compile(device.Source{Name: "gaps.cu", Text: text.String()})
		require.NoError(t, err, text.String())
		out, err := device.Upload(d, "out", []int32{0})
		require.NoError(t, err)
		for i, name := range names {
			k, err := m.Kernel(fmt.Sprint("k", i))
			require.NoError(t, err)
			for which := range 3 {
				for _, at := range []int{-60, -4, -1, 0, 3, 4, 7, 63} {
					err := d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(1)}, out, which, at)
					if at >= 0 && at < 4 {
						assert.NoError(t, err, "%s, variable %d at %d", name, which, at)
					} else {
						assert.ErrorContains(t, err, "out of bounds", "%s, variable %d at %d", name, which, at)
					}
				}
			}
		}
	})
}
