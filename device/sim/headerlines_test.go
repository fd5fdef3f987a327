package sim

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
)

const usesHeaders = `#include "second.cuh"
extern "C" __global__ void fine(float *x) { x[threadIdx.x] = turned(x[threadIdx.x]); }
extern "C" __global__ void race(float *x) { x[threadIdx.x] = unguarded(x[threadIdx.x]); }
extern "C" __global__ void beyond(float *x) { store(x, threadIdx.x + 64); }
extern "C" __global__ void stuck(float *x) { if (threadIdx.x < 32) meet(); else __syncthreads(); x[0] = 1; }
`

const firstHeader = `#pragma once
__device__ void store(float *x, int i) {
    x[i] = 1;
}
__device__ void meet() {
    __syncthreads();
}
`

const secondHeader = `#pragma once
#include "first.cuh"
__shared__ float line[64];
__device__ float unguarded(float x) {
    line[threadIdx.x] = x;

    return line[63 - threadIdx.x];
}
__device__ float turned(float x) {
    line[threadIdx.x] = x;
    meet();
    return line[63 - threadIdx.x];
}
`

// What is found or counted in a source's own headers is told of their lines.
func TestLinesOfHeaders(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		for name, extra := range map[string]string{"as it is": "", "preprocessed": "__device__ float nothing(float x) { asm(\"mov.f32 %0, %0;\" : \"+f\"(x)); return x; }\n"} {
			t.Run(name, func(t *testing.T) {
				d := start(t, Options{Compiler: compiler, Checks: AllChecks(), Lines: true})
				m, err := d.Compile(device.Source{Name: "k.cu", Text: usesHeaders + extra, Files: map[string]string{"first.cuh": firstHeader, "second.cuh": secondHeader}})
				require.NoError(t, err)
				x, err := device.Upload(d, "x", make([]float32, 64))
				require.NoError(t, err)
				run := func(kernel string) *trace.Report {
					k, err := m.Kernel(kernel)
					require.NoError(t, err)
					_ = d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(64)}, x)
					r, err := d.Report()
					require.NoError(t, err)
					return r
				}
				r := run("fine")
				assert.Empty(t, r.Findings)
				assert.True(t, slices.ContainsFunc(r.Launches[0].LineCounts, func(c trace.LineCounts) bool {
					return c.File == "second.cuh" && c.Line == 10 && c.Shared && c.Bytes == 256
				}), "%+v", r.Launches[0].LineCounts)
				assert.True(t, slices.ContainsFunc(r.Launches[0].LineSteps, func(s trace.LineSteps) bool {
					return s.File == "first.cuh" && s.Line == 6 && s.Barriers == 1
				}), "%+v", r.Launches[0].LineSteps)
				for kernel, want := range map[string]struct {
					file, source string
					line         int
					says         []string
				}{
					"race":   {"second.cuh", "    return line[63 - threadIdx.x];", 7, []string{"wrote it at second.cuh:5", "reads it at second.cuh:7"}},
					"beyond": {"first.cuh", "    x[i] = 1;", 3, []string{"out of bounds"}},
					"stuck":  {"first.cuh", "    __syncthreads();", 6, []string{"line 6 of first.cuh"}},
				} {
					f := run(kernel).Findings
					f = slices.DeleteFunc(f, func(f trace.Finding) bool { return f.Kernel != kernel })
					require.NotEmpty(t, f, kernel)
					said := fmt.Sprint(f[0].Message, f[0].Notes, f[0].Hint)
					assert.Equal(t, []any{want.file, want.line, want.source}, []any{f[0].File, f[0].Line, f[0].Source}, "%s: %s", kernel, said)
					assert.NotRegexp(t, `\d{7}`, said)
					for _, words := range want.says {
						assert.Contains(t, said, words)
					}
				}
			})
		}
	})
}

func TestErrorsInHeaders(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		var seen Preprocessed
		d := start(t, Options{Compiler: compiler, Checks: AllChecks(), Vet: func(p Preprocessed) error { seen = p; return nil }})
		src := device.Source{Name: "k.cu", Text: usesHeaders + never()}
		for header, says := range map[string]string{
			firstHeader + "__device__ float f() { return nowhere; }\n":         "first.cuh:8:31: error",
			firstHeader + "__device__ void f() { asm(\"no.such.thing;\"); }\n": "first.cuh:8",
			firstHeader + "#line 5\n":                                          "first.cuh:8: error: #line",
			firstHeader + "extern \"C\" __global__ void comes(cudaTextureObject_t t) { tex3DGrad<float>(t, 0, 0, 0, float4(), float4()); }\n": "first.cuh:8",
			firstHeader + "__device__ int calls(int); __device__ int f() { return calls(1); }\n":                                              "first.cuh:8",
		} {
			src.Files = map[string]string{"first.cuh": header, "second.cuh": secondHeader}
			m, err := d.Compile(src)
			if err == nil {
				if _, err = m.Kernel("fine"); err == nil {
					_, err = m.Kernel("comes") // where only what comes to it is refused
				}
			}
			assert.ErrorContains(t, err, says, header[len(firstHeader):])
		}
		src.Files = map[string]string{"first.cuh": firstHeader, "second.cuh": secondHeader}
		_, err := d.Compile(src)
		require.NoError(t, err)
		var lines []string
		for _, l := range seen.Lines {
			lines = append(lines, fmt.Sprintf("%s:%d", l.File, l.Number))
		}
		for _, want := range []string{"first.cuh:3", "second.cuh:5", "k.cu:2"} {
			assert.Contains(t, lines, want)
		}
		var includes []string
		for _, i := range seen.Includes {
			includes = append(includes, fmt.Sprintf("%s:%d %s", i.File, i.Number, i.Text))
		}
		assert.Equal(t, []string{"k.cu:1 second.cuh", "second.cuh:2 first.cuh"}, includes)
		assert.Empty(t, seen.Strange)
	})
}
