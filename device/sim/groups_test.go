package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const groupThreads = 96

// groupInput: a few values more than once, none in order.
func groupInput() []int32 {
	x := make([]int32, groupThreads)
	for i := range x {
		x[i] = int32(i*37%groupThreads + 1)
	}
	return x
}

func flag(holds bool) int32 {
	if holds {
		return 1
	}
	return 0
}

func testRanks(b bench) {
	y := alloc[int32](b, "y", 10*groupThreads)
	b.launch("ranks", groupThreads, y)
	got := download(b, y)
	for t := range int32(groupThreads) {
		want := []int32{groupThreads, 0, t, t % 8, 8, t / 8, groupThreads / 8, t % 2, t % 8 / 2, 4}
		require.Equal(b.t, want, got[10*t:10*t+10], "thread %d", t)
	}
}

func testTiles(b bench) {
	x := groupInput()
	y := alloc[int32](b, "y", 12*groupThreads)
	b.launch("tiles", groupThreads, upload(b, "x", x), y)
	got := download(b, y)
	for t := range groupThreads {
		rank, tile := t%16, x[t/16*16:t/16*16+16]
		read := func(r int) int32 {
			if r < 0 || r >= 16 {
				r = rank
			}
			return tile[r]
		}
		want := []int32{tile[3], read(rank - 2), read(rank + 2), tile[rank^5], 0, 0, 1, 0, 0, tile[0], tile[0], 0}
		for i, v := range tile {
			want[4] |= flag(v > 50) << i
			want[5] |= flag(v == 21)
			want[6] &= flag(v > 4)
			want[7] |= flag(v/4 == x[t]/4) << i
			want[8] += v
			want[9], want[10] = max(want[9], v), min(want[10], v)
			if i <= rank {
				want[11] += v
			}
		}
		require.Equal(b.t, want, got[12*t:12*t+12], "thread %d", t)
	}
}

func testWarps(b bench) {
	x := groupInput()
	y := alloc[int32](b, "y", 14*groupThreads)
	b.launch("warps", groupThreads, upload(b, "x", x), y)
	got := download(b, y)
	for t := range groupThreads {
		lane, warp := t%32, x[t/32*32:t/32*32+32]
		first, last, mask := 0, 24, int32(0x00ffffff)
		if lane >= 24 {
			first, last, mask = 24, 32, -0x01000000
		}
		want := make([]int32, 14)
		want[1], want[3] = -warp[first], -1
		for _, v := range warp[first:last] {
			want[0] += v
			want[1] = min(want[1], -v)
			want[2] = max(want[2], v)
			want[3] &= v
			want[4] |= v
			want[5] ^= v
		}
		want[6], want[7] = mask, 1
		want[10], want[11] = warp[lane^1], warp[lane^4]
		down, up := lane, lane
		if lane+8 < 32 {
			down = lane + 8
		}
		if lane%8 > 0 {
			up = lane - 1
		}
		want[12], want[13] = 2*warp[down], warp[up]
		require.Equal(b.t, want, got[14*t:14*t+14], "thread %d", t)
	}
}

func testVotes(b bench) {
	y := alloc[int32](b, "y", 3*groupThreads)
	b.launch("votes", groupThreads, upload(b, "x", groupInput()), y)
	got := download(b, y)
	for t := range groupThreads {
		require.Equal(b.t, []int32{groupThreads / 3, 1, 1}, got[3*t:3*t+3], "thread %d", t)
	}
}

func TestGroupsOfThreads(t *testing.T) {
	withModule(t, "groups.cu", func(b bench) {
		testRanks(b)
		testTiles(b)
		testWarps(b)
		testVotes(b)
	})
}
