package qkv

import (
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
)

func TestBothKernels(t *testing.T) {
	attntest.BothKernels(t, func(t *testing.T, hopper, taken bool) {
		d := attntest.Device(t)
		it, err := newFor(device.QueueOf(d), hopper)
		require.NoError(t, err)
		if !taken {
			for _, c := range cases {
				projected(t, d, it, c.p, c.biased, c.hint)
			}
		}
		projected(t, d, it, Projection{1, 300, 24, 3, 1, 40, false}, true, "several tiles for a block")
		// With the four processors of the simulator, each is for another of hopper.cu's tiles.
		for _, p := range []Projection{{2, 128, 24, 3, 1, 128, false}, {1, 256, 24, 2, 1, 128, true}, {1, 128, 72, 3, 1, 128, true}, {4, 32, 24, 2, 1, 128, false}} {
			projected(t, d, it, p, true, "a whole tile for each block")
		}
	})
}

// TestTilesOfHopper: those that were the fastest on an H200, whose processors are as many as an H100's.
func TestTilesOfHopper(t *testing.T) {
	for p, want := range map[Projection]hopperTile{
		{1, 128, 3584, 32, 4, 128, false}:  {64, 1, 9, 16},
		{2, 256, 3584, 32, 4, 128, false}:  {160, 1, 5, 16},
		{4, 512, 3584, 32, 4, 128, false}:  {160, 2, 4, 8},
		{8, 1024, 3584, 32, 4, 128, false}: {160, 2, 4, 8},
		{1, 4096, 4096, 30, 1, 128, false}: {128, 2, 4, 8},
		{1, 8192, 8192, 62, 1, 128, false}: {128, 2, 4, 8},
	} {
		require.Equal(t, want, fastest(p, 132), "%+v", p)
	}
	for i, p := range []Projection{{2, 128, 24, 3, 1, 128, false}, {1, 256, 24, 2, 1, 128, true}, {1, 128, 72, 3, 1, 128, true}, {4, 32, 24, 2, 1, 128, false}, cases[0].p} {
		require.Equal(t, hopperTiles[i], fastest(p, 4), "%+v", p)
	}
}
