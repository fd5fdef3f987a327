package sim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// A kernel makes a map of its own, of memory that it chooses.
const forgedMap = `#include "hopper.h"
struct Map {
    unsigned long long mark, address, bytes;
    unsigned sizes[5];
    unsigned short box[5];
    unsigned char rank, element;
    unsigned long long strides[4];
    unsigned char swizzle, rest[31];
};
extern "C" __global__ void by_map(float *y, long long given, int wrong, int stores) {
    __shared__ __align__(1024) char room[4096];
    __shared__ Mbarrier bar;
    for (int i = 0; i < 4096; i++) room[i] = 1;
    Map *m = (Map *)y;
    *m = {0x70616d2d74696d73ull, (unsigned long long)given, 1 << 20, {64, 1, 1, 1, 1}, {64, 1, 1, 1, 1}, 1, 4, {256, 256, 256, 256}, 0, {}};
    if (wrong == 1) m->rank = 200;
    if (wrong == 2) m->box[0] = 0;
    if (wrong == 3) m->swizzle = 255;
    if (wrong == 4) m->element = 200;
    if (wrong == 5) m->box[0] = 65535;
    if (wrong == 6) m->mark = 7;
    bar.init(1);
    fence_mbarrier_init();
    fence_proxy_async();
    if (stores) {
        asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%1}], [%2];" ::"l"(m), "r"(0), "r"((unsigned)__cvta_generic_to_shared(room)));
        bulk_commit();
        bulk_wait<0>();
    } else {
        bar.arrive_expect_tx(256);
        asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"((unsigned)__cvta_generic_to_shared(room)), "l"(m), "r"(0),
            "r"((unsigned)__cvta_generic_to_shared(&bar)));
        bar.wait(0);
        y[64] = room[0];
    }
}
`

// TestNoForgedMapLeadsElsewhere: a tensor map that a kernel wrote itself is none, or its memory is checked as any.
func TestNoForgedMapLeadsElsewhere(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	m, err := d.Compile(device.Source{Name: "k.cu", Text: forgedMap})
	require.NoError(t, err)
	b := bench{t, d, m}
	try := func(address int64, wrong, stores int32) string {
		require.NoError(t, d.Reset())
		y := alloc[float32](b, "y", 256)
		r, _ := b.try("by_map", device.Launch{Grid: device.D1(1), Block: device.D1(1)}, y, address, wrong, stores)
		var kinds []string
		for _, f := range r.Findings {
			kinds = append(kinds, f.Kind)
		}
		return strings.Join(kinds, ", ")
	}
	spare := int64(spareHeap(t, d))
	for _, stores := range []int32{0, 1} {
		before := peek(t, d, spare)
		assert.Equal(t, "out of bounds", try(spare, 0, stores))
		for wrong := int32(1); wrong <= 6; wrong++ {
			assert.Equal(t, "no tensor map", try(spare, wrong, stores), "%d", wrong)
		}
		assert.Equal(t, before, peek(t, d, spare))
	}
}
