package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// Wherever the sizes of a cluster come from, its blocks know how many they are.
func TestClustersOfAnySpelling(t *testing.T) {
	const text = `#include <cooperative_groups.h>
#define BODY { c[0] = cooperative_groups::this_cluster().num_blocks(); }
constexpr int A = 2;
template <int X> __global__ void __cluster_dims__(X, 1, 1) of_parameter(int *c) BODY
template <int X> __global__ void __cluster_dims__(2, 1, 1) of_number(int *c) BODY
__global__ void __cluster_dims__(A * 1, 1, 1) of_constant(int *c) BODY
namespace ns {
constexpr int B = 4;
struct Shape { static constexpr int x = 4; };
__global__ void __cluster_dims__(Shape::x * B / 4, 1, 1) of_namespace(int *c) BODY
template <class S, int Y = 2> __global__ void
    __cluster_dims__(S::x / Y > 1 ? S::x / Y : 1, 1, 1) __launch_bounds__(sizeof(S) * 32)
    of_type(int *c) BODY
}
template <class T> __global__ void of_none(int *c) BODY
extern "C" { __global__ void __cluster_dims__(A, A) of_two(int *c) BODY }
__global__ void __cluster_dims__(A - 1 + 1) of_one(int *c) { int wrong = c[100000]; c[0] = wrong; }
`
	want := map[string]int32{"of_parameter<2>": 2, "of_parameter<4>": 4, "of_number<7>": 2, "of_constant": 2, "ns::of_namespace": 4,
		"ns::of_type<ns::Shape>": 2, "ns::of_type<ns::Shape, 1>": 4, "of_none<int>": 1, "of_two": 4}
	bothCompilers(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		s := device.Source{Name: "clusters.cu", Text: text}
		for name := range want {
			s.Kernels = append(s.Kernels, name)
		}
		m, err := d.Compile(s)
		require.NoError(t, err)
		for name, blocks := range want {
			k, err := m.Kernel(name)
			require.NoError(t, err)
			c, err := device.Upload(d, "c", make([]int32, 1))
			require.NoError(t, err)
			require.NoError(t, d.Launch(k, device.Launch{Grid: device.D2(4, 2), Block: device.D1(1)}, c), name)
			got, err := c.CopyOut(d)
			require.NoError(t, err)
			assert.Equal(t, blocks, got[0], name)
		}
		// What is declared for an attribute moves no line and no column.
		k, err := m.Kernel("of_one")
		require.NoError(t, err)
		c, err := device.Upload(d, "c", make([]int32, 1))
		require.NoError(t, err)
		require.Error(t, d.Launch(k, device.Launch{Grid: device.D1(2), Block: device.D1(1)}, c))
		r, err := d.Report()
		require.NoError(t, err)
		f := r.Findings[len(r.Findings)-1]
		assert.Equal(t, "out of bounds", f.Kind)
		assert.Equal(t, 17, f.Line, f.String())
	})
}

// Which of two templates of one name is asked for is not known, so neither are its blocks.
func TestClustersOfTwoTemplates(t *testing.T) {
	_, err := start(t, Options{}).Compile(device.Source{Name: "two.cu", Kernels: []string{"k<2>"}, Text: `
template <int X> __global__ void __cluster_dims__(X, 1, 1) k(int *c) { c[0] = X; }
template <class X> __global__ void k(float *c) { c[0] = X(); }
`})
	assert.ErrorContains(t, err, "one has __cluster_dims__: give each a name of its own")
}

// Kernels of one name in a namespace are told apart by types that only the namespace knows.
func TestOverloadsOfANamespace(t *testing.T) {
	const text = `
namespace ns { struct half4 { float x, y; };
template <typename T> __global__ void k(T *o) { o[0] = T(); }
template <> __global__ void k(half4 *o) { o->x = 1; }
__global__ void twice(half4 *o) { o->x = 2; }
__global__ void twice(float *o, int n = 3) { *o = n; }
}
`
	bothCompilers(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		m, err := d.Compile(device.Source{Name: "ns.cu", Text: text, Kernels: []string{"ns::k<float>", "ns::k<ns::half4>"}})
		require.NoError(t, err)
		for name, want := range map[string]float32{"ns::twice(half4 * o)": 2, "ns::k<ns::half4>": 1, "ns::k<float>": 0} {
			k, err := m.Kernel(name)
			require.NoError(t, err)
			o, err := device.Upload(d, "o", []float32{9, 9})
			require.NoError(t, err)
			require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(1)}, o), name)
			got, err := o.CopyOut(d)
			require.NoError(t, err)
			assert.Equal(t, want, got[0], name)
		}
	})
}
