package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// A file as people write it: kernels of every kind beside their host side.
const wholeFile = `#include <cstdio>
#include <vector>
#include <iostream>
#include <cublas_v2.h>
#include "parts/common.h"
#define CHECK(call) do { if ((call) != cudaSuccess) exit(1); } while (0)
#ifdef WITH_TWICE
__global__ void twice(real *x) { x[threadIdx.x] = lerp(0, x[threadIdx.x], 2); }
#else
__global__ void half_of(real *x) { x[threadIdx.x] /= 2; }
#endif
#define DEFINE_FILL(name, value) __global__ void name(real *x) { x[threadIdx.x] = value; }
DEFINE_FILL(ones, 1)
namespace layers {
template <typename T, int N> __global__ void add(T *x, const T *more) {
    __shared__ T stage[N];
    stage[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = stage[threadIdx.x] + (more ? more[threadIdx.x] : N);
}
}
__global__ void take(real *x, Shape s, half h, real r, Mode m, const float *none) {
    x[0] = s.scale * s.at[1] + s.rows; x[1] = h; x[2] = r; x[3] = m; x[4] = none == nullptr; x[5] = *s.there;
}
__global__ void textured(real *x, cudaTextureObject_t t) { x[0] = tex3DGrad<float>(t, 0); }
void run(cublasHandle_t handle, std::vector<real> &v) {
    CHECK(cudaMalloc(&p, 4));
    layers::add<real, 64><<<1, 64>>>(p, nullptr);
    std::cout << "done" << std::endl;
}
int main() { std::vector<real> v; run(nullptr, v); }
`

const commonHeader = `#pragma once
#include <cuda_fp16.h>
typedef float real;
enum Mode { SLOW = 3, FAST };
struct Shape { char kind; float scale; int at[2]; double rows; real *there; };
__device__ inline float lerp(float a, float b, float t) { return a + t * (b - a); }
inline void free_all() { cudaFree(0); }
`

func TestAFileWithItsHostSide(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Compiler: compiler, Checks: AllChecks()})
		m, err := d.Compile(device.Source{Name: "whole.cu", Text: wholeFile, Defines: map[string]string{"WITH_TWICE": "1"},
			Files: map[string]string{"parts/common.h": commonHeader}, Kernels: []string{"layers::add<float, 64>"}})
		require.NoError(t, err)
		kernel := func(name string) device.Kernel {
			k, err := m.Kernel(name)
			require.NoError(t, err)
			return k
		}
		_, err = m.Kernel("half_of")
		assert.ErrorContains(t, err, "it has twice, ones, take, layers::add<float, 64>")
		_, err = m.Kernel("textured")
		assert.ErrorContains(t, err, "whole.cu:25: error: the simulator has no tex3DGrad")
		x, err := device.Upload(d, "x", make([]float32, 64))
		require.NoError(t, err)
		launch := func(name string, args ...any) {
			require.NoError(t, d.Launch(kernel(name), device.Launch{Grid: device.D1(1), Block: device.D1(64)}, args...))
		}
		launch("ones", x)
		launch("twice", x)
		launch("layers::add<float, 64>", x, x)
		launch("layers::add<float, 64>", x, device.Null)
		got, err := x.CopyOut(d)
		require.NoError(t, err)
		assert.Equal(t, float32(68), got[63])
		attributes, err := d.Attributes(kernel("layers::add<float, 64>"))
		require.NoError(t, err)
		assert.Equal(t, 256, attributes.SharedBytes)

		type shape struct {
			Kind  int8
			Scale float32
			At    [2]int32
			Rows  float64
			There any
		}
		one := device.Launch{Grid: device.D1(1), Block: device.D1(1)}
		require.NoError(t, d.Launch(kernel("take"), one, x, shape{1, 0.5, [2]int32{7, 8}, 100, x}, 1.5, 2.5, 4, device.Null))
		got, err = x.CopyOut(d)
		require.NoError(t, err)
		assert.Equal(t, []float32{104, 1.5, 2.5, 4, 1, 104}, got[:6])
		err = d.Launch(kernel("take"), one, x, [3]int32{}, 1.5, 2.5, 4, device.Null)
		assert.EqualError(t, err, "launch take: argument 2 (Shape s): got a [3]int32 of 12 bytes, and the kernel's Shape has 32")
		report, err := d.Report()
		require.NoError(t, err)
		assert.Empty(t, report.Findings)
	})
}

func TestTheHostsFunctionsAreNamed(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Compiler: compiler})
		for text, want := range map[string]string{
			"float help(float x) { return x; }\n__global__ void k(float *x) { x[0] = help(1); }":                              "help is a function of the host",
			"struct P { float v; float get() { return v; } };\n__global__ void k(float *x) { P p; p.v = 1; x[0] = p.get(); }": "get is a function of the host",
			"struct L { float operator()(float v) { return v; } };\n__global__ void k(float *x) { x[0] = L()(1); }":           "an operator of L is a function of the host",
			"struct L { float v; L(float u) : v(u) {} };\n__global__ void k(float *x) { x[0] = L(1).v; }":                     "L is a function of the host",
			"#include \"missing.h\"\n__global__ void k(float *x) {}":                                                          "no header missing.h",
		} {
			_, err := d.Compile(device.Source{Name: "k.cu", Text: text})
			assert.ErrorContains(t, err, want)
		}
		_, err := d.Compile(device.Source{Name: "k.cu", Text: "template <int N> __global__ void k(float *x) {}", Kernels: []string{"simt_trap"}})
		assert.ErrorContains(t, err, "the file has no kernel simt_trap")
		_, err = d.Compile(device.Source{Name: "k.cu", Text: "", Kernels: []string{"k<1>::call; int x"}})
		assert.ErrorContains(t, err, "names no kernel")
	})
}
