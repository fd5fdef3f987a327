package flash

// The public checks: `go test ./task4_flash`. They are few and small; `make grade
// TASK=4` has more and larger ones, and counts what is moved.

import (
	"fmt"
	"testing"

	"flashlab/attn/attntest"
	"flashlab/device"
)

func TestFlash(t *testing.T) {
	d := attntest.Device(t)
	f, err := New(device.QueueOf(d))
	if err != nil {
		t.Fatalf("New failed:\n%v", err)
	}
	attntest.Attention(t, d, f, true)
}

// TestTiles: the host picks the tiles, and all of them give the same results.
// Tiles that NewTiled refuses are skipped.
func TestTiles(t *testing.T) {
	d := attntest.Device(t)
	for _, tiles := range []Tiles{{16, 32}, {128, 32}} {
		t.Run(fmt.Sprintf("%dx%d", tiles.Queries, tiles.Keys), func(t *testing.T) {
			f, err := NewTiled(device.QueueOf(d), tiles)
			if err != nil {
				t.Skipf("tiles of %d queries and %d keys are refused: %v", tiles.Queries, tiles.Keys, err)
			}
			attntest.Attention(t, d, f, true)
		})
	}
}
