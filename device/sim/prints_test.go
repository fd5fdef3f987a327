package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
)

const talking = `extern "C" __global__ void talk(int times) {
    for (int i = 0; i < times; i++) printf("%d of %d\n", i, times);
}
extern "C" __global__ void late(int last) {
    if (blockIdx.x == last && threadIdx.y == 1) printf("here\n");
}`

// prints runs a kernel with 4 blocks of (2, 2) threads, and takes its texts.
func prints(t *testing.T, d *Device, kernel string, n int) ([]trace.Print, bool) {
	t.Helper()
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: talking})
	require.NoError(t, err)
	k, err := m.Kernel(kernel)
	require.NoError(t, err)
	require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(4), Block: device.D2(2, 2)}, n))
	all, more, err := d.Prints()
	require.NoError(t, err)
	return all, more
}

func TestPrintsNameTheirThreads(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	got, more := prints(t, d, "late", 2)
	assert.False(t, more)
	assert.Equal(t, []trace.Print{
		{Kernel: "late", Block: [3]int{2, 0, 0}, Thread: [3]int{0, 1, 0}, Text: "here\n"},
		{Kernel: "late", Block: [3]int{2, 0, 0}, Thread: [3]int{1, 1, 0}, Text: "here\n"},
	}, got)
	got, _ = prints(t, d, "late", 9)
	assert.Empty(t, got, "what was taken does not come again")
	got, _ = prints(t, d, "talk", 1)
	require.Len(t, got, 16)
	for i, p := range got {
		assert.Equal(t, i/4, p.Block[0])
	}
}

func TestOneThreadsPrints(t *testing.T) {
	thread, block := [3]int{1, 1, 0}, [3]int{3, 0, 0}
	got, _ := prints(t, start(t, Options{Show: trace.Show{Thread: &thread}}), "talk", 2)
	require.Len(t, got, 8, "in each of 4 blocks, twice")
	for _, p := range got {
		assert.Equal(t, thread, p.Thread)
	}
	got, _ = prints(t, start(t, Options{Show: trace.Show{Thread: &thread, Block: &block}}), "talk", 2)
	require.Len(t, got, 2)
	assert.Equal(t, block, got[1].Block)
	assert.Equal(t, "1 of 2\n", got[1].Text)
	got, _ = prints(t, start(t, Options{Show: trace.Show{Block: &block}}), "talk", 1)
	assert.Len(t, got, 4)
}

// A flood is cut off at the same place however many workers share the blocks.
func TestAFloodOfPrintsIsBounded(t *testing.T) {
	var first []trace.Print
	for _, workers := range []int{1, 2, 3} {
		d := start(t, Options{Workers: workers})
		got, more := prints(t, d, "talk", 100_000)
		assert.True(t, more)
		assert.NotEmpty(t, got)
		bytes := 0
		for _, p := range got {
			bytes += len(p.Text)
		}
		assert.LessOrEqual(t, bytes, 64<<10)
		if first == nil {
			first = got
		}
		assert.Equal(t, fmt.Sprint(first), fmt.Sprint(got))
		got, more = prints(t, d, "talk", 1)
		assert.Len(t, got, 16, "it does not hide what comes after it was taken")
		assert.False(t, more)
	}
}

// TestPrintfReadsAndWritesNothingUnseen: what the C library would do is done; a wild string
// is an access out of bounds, and %n is none of CUDA's.
func TestPrintfReadsAndWritesNothingUnseen(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	m, err := d.Compile(device.Source{Name: "k.cu", Text: `#include <cstdio>
extern "C" __global__ void fine(float *x) {
  char own[] = "own";
  printf("%d|%5d|%-5d|%05d|%+d|%u|%x|%#X|%o|%c|%%|%s|%.2s|%8s|%-8s|", -1, 2, 3, 4, 5, 6u, 255, 255, 8, 'c', "text", "cut", own, "left");
  printf("%f|%.3f|%10.2e|%g|%*d|%.*f|%ld|%lld|%lu|%hd|%zu\n", 1.5, 2.0f, 12345.678, 0.25, 4, 7, 1, 3.14159, -8L, 9LL, 10UL, (short)-3, sizeof(float));
}
extern "C" __global__ void writes(float *x) { printf("%d%n\n", 1, (int *)x); }
extern "C" __global__ void reads(float *x) { printf("%s\n", (const char *)(x + 100000)); }
extern "C" __global__ void wide(float *x) { printf("%ls\n", (const wchar_t *)x); }
extern "C" __global__ void format(float *x) { printf((const char *)(x + 100000)); }
`})
	require.NoError(t, err)
	for _, one := range []struct{ kernel, says string }{
		{"fine", ""}, {"writes", "CUDA's printf does not know"}, {"reads", "out of bounds"}, {"wide", "CUDA's printf does not know"}, {"format", "out of bounds"},
	} {
		x, err := device.Upload(d, "x", make([]float32, 4))
		require.NoError(t, err)
		k, err := m.Kernel(one.kernel)
		require.NoError(t, err)
		err = d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(1)}, x)
		if one.says != "" {
			assert.ErrorContains(t, err, one.says, one.kernel)
			continue
		}
		require.NoError(t, err)
		got, _, err := d.Prints()
		require.NoError(t, err)
		require.Len(t, got, 2)
		assert.Equal(t, "-1|    2|3    |00004|+5|6|ff|0XFF|10|c|%|text|cu|     own|left    |", got[0].Text)
		assert.Equal(t, "1.500000|2.000|  1.23e+04|0.25|   7|3.1|-8|9|10|-3|4\n", got[1].Text)
	}
}

// TestPrintsComeByLanes: as on a GPU, what a warp prints at one place comes in the order of its lanes,
// whichever of them has come to the meeting before it last.
func TestPrintsComeByLanes(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: `extern "C" __global__ void k() {
    int v = threadIdx.x;
    for (int m = 16; m; m /= 2) {
        v += __shfl_xor_sync(~0u, v, m);
        printf("m%d", m);
    }
    if (threadIdx.x == 3) printf("x");
    __syncthreads();
    for (int i = 0; i < 2; i++) printf("i%d", i);
}`})
	require.NoError(t, err)
	k, err := m.Kernel("k")
	require.NoError(t, err)
	require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(2), Block: device.D1(40)}))
	all, _, err := d.Prints()
	require.NoError(t, err)
	var want []string
	for block := range 2 {
		say := func(text string, first, end int) {
			for thread := first; thread < end; thread++ {
				want = append(want, fmt.Sprintf("%d/%d%s", block, thread, text))
			}
		}
		for _, m := range []string{"m16", "m8", "m4", "m2", "m1"} {
			say(m, 0, 32)
			if m == "m1" {
				say("x", 3, 4)
			}
			say(m, 32, 40)
		}
		for warp := range 2 {
			say("i0", 32*warp, min(32*warp+32, 40))
			say("i1", 32*warp, min(32*warp+32, 40))
		}
	}
	var got []string
	for _, p := range all {
		got = append(got, fmt.Sprintf("%d/%d%s", p.Block[0], p.Thread[0], p.Text))
	}
	assert.Equal(t, want, got)
}
