package sim

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// What becomes of the pointers that functions of the runtime take. Where a kernel decides on one, here is a kernel's
// statement that gives it an address which nobody has: something must be found there.
const (
	headersOwn = "our headers give it variables of their own"
	onlyAsks   = "it says whose an address is, and goes nowhere"
)

var pointersOfTheRuntime = map[string]string{
	"simt_barrier":       headersOwn,
	"simt_strong":        onlyAsks,
	"simt_warp":          headersOwn,
	"simt_trap":          headersOwn,
	"simt_multiply_2048": headersOwn,
	"simt_multiply_4096": headersOwn,
	"simt_xorwow_jump":   headersOwn,
	"simt_space":         onlyAsks,
	"simt_shared_offset": onlyAsks,
	"simt_shared_rank":   onlyAsks,
	"simt_map_shared":    onlyAsks,
	"simt_atomic":        `atomicAdd((int *)w, 1);`,
	"simt_compares":      `atomicCAS((int *)w, 1, 2);`,
	"simt_printf":        `printf("%s", w);`,
	"simt_check_matrix": `using namespace nvcuda::wmma;
    fragment<accumulator, 16, 16, 16, float> c;
    fill_fragment(c, 0);
    store_matrix_sync((float *)w, c, 16, mem_row_major);`,
	"simt_fragment": `using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> a;
    fragment<matrix_b, 16, 16, 16, half, row_major> b;
    fragment<accumulator, 16, 16, 16, float> &c = *(fragment<accumulator, 16, 16, 16, float> *)w;
    fill_fragment(a, 0), fill_fragment(b, 0);
    mma_sync(c, a, b, c);`,
	"simt_load_matrix":            `load_matrix(r, w);`,
	"simt_ldmatrix":               `asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(far));`,
	"simt_stmatrix":               `store_matrix(w, r);`,
	"simt_copy_async":             `__pipeline_memcpy_async(room, w, 16);`,
	"simt_mbarrier_init":          `((Mbarrier *)w)->init(1);`,
	"simt_mbarrier_arrive":        `((Mbarrier *)w)->arrive();`,
	"simt_mbarrier_wait":          `((Mbarrier *)w)->wait(0);`,
	"simt_mbarrier_expect":        `asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(far));`,
	"simt_mbarrier_complete":      `asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(far));`,
	"simt_mbarrier_inval":         `asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(far));`,
	"simt_mbarrier_arrive_copies": `asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(far));`,
	"simt_bulk_load":              `bulk_load(room, w, 16, bar); bar.wait(0);`,
	"simt_bulk_send": `asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];"
    ::"r"(far), "r"(near), "r"(near));`,
	"simt_store_async": `asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
    ::"r"(far), "r"(1), "r"(near));`,
	"simt_bulk_store": `asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;" ::"l"(w), "r"(near));
    bulk_commit(); bulk_wait<0>();`,
	"simt_tensor_load":    `tma_load(room, *(const CUtensorMap *)w, bar, 0, 0);`,
	"simt_tensor_store":   `tma_store(*(const CUtensorMap *)w, room, 0, 0, 0);`,
	"simt_wgmma":          `wgmma<8, half>(*(float(*)[4])w, (uint64_t)near, (uint64_t)near);`,
	"simt_texture":        `y[0] = tex1D<float>((cudaTextureObject_t)w, 1);`,
	"simt_texture_linear": `y[0] = tex1Dfetch<float>((cudaTextureObject_t)w, 1);`,
	"simt_texture_gather": `y[0] = tex2Dgather<float4>((cudaTextureObject_t)w, 1, 1).x;`,
	"simt_surface":        `surf1Dwrite(1.f, (cudaSurfaceObject_t)w, 0);`,
}

// kernelWithAddresses has w, which is nobody's, as far is in shared memory; and room that is there.
const kernelWithAddresses = `
extern "C" __global__ void by_%s(float *y) {
    __shared__ __align__(1024) char room[4096];
    __shared__ Mbarrier bar;
    char *w = (char *)y + (1 << 24);
    unsigned far = 0xfffff00, near = (unsigned)__cvta_generic_to_shared(room), r[4] = {};
    if (threadIdx.x == 0) bar.init(128);
    room[threadIdx.x] = (char)(far & near & r[0] & (size_t)w);
    __syncthreads();
`

var declaration = regexp.MustCompile(`(?m)^\s*(?:extern "[^"]*" )?(?:[\w:]+ )+\*?(simt_\w+)\(([^()]*(?:\w \*\w|\.\.\.)[^()]*)\)`)

// Each function of the runtime that our headers declare with a pointer checks what the kernel gives it.
func TestThePointersOfTheRuntimeAreChecked(t *testing.T) {
	declared := map[string]bool{}
	for _, text := range guardedHeaders() {
		for _, m := range declaration.FindAllStringSubmatch(device.BlankComments(text), -1) {
			declared[m[1]] = true
		}
	}
	assert.Equal(t, slices.Sorted(maps.Keys(pointersOfTheRuntime)), slices.Sorted(maps.Keys(declared)), "what becomes of their pointers?")
	var text strings.Builder
	text.WriteString("#include \"hopper.h\"\n#include <cuda_pipeline.h>\n#include <mma.h>\n" +
		"extern \"C\" __global__ void fine(float *y) { y[threadIdx.x] = 1; }\n")
	for name, statement := range pointersOfTheRuntime {
		fmt.Fprintf(&text, kernelWithAddresses, name)
		if statement != headersOwn && statement != onlyAsks {
			text.WriteString("    " + statement + "\n")
		}
		text.WriteString("}\n")
	}
	d := start(t, Options{Checks: AllChecks()})
	m, err := d.Compile(device.Source{Name: "k.cu", Text: text.String()})
	require.NoError(t, err)
	launch := func(name string) (kinds []string) {
		require.NoError(t, d.Reset())
		y, err := device.Alloc[float32](d, "y", 128)
		require.NoError(t, err)
		k, err := m.Kernel(name)
		require.NoError(t, err, name)
		launched := d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(128)}, y)
		r, err := d.Report()
		require.NoError(t, err, "%s: %v", name, launched)
		for _, f := range r.Findings {
			kinds = append(kinds, f.Kind)
		}
		return kinds
	}
	for name, statement := range pointersOfTheRuntime {
		if statement != headersOwn && statement != onlyAsks {
			kinds := launch("by_" + name)
			assert.NotEmpty(t, kinds, "%s: an address that nobody has goes unnoticed", statement)
		}
		assert.Empty(t, launch("fine"), "after %s", statement)
	}
}
