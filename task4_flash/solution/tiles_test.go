package flash

import (
	"fmt"
	"testing"

	"flashlab/attn/attntest"
	"flashlab/device"
)

// TestSizes: small problems never take the tall tiles, so they are asked for.
func TestSizes(t *testing.T) {
	d := attntest.Device(t)
	for _, tiles := range []Tiles{manyTiles, smallTiles, {Queries: 16, Keys: 48}} {
		t.Run(fmt.Sprintf("%dx%d", tiles.Queries, tiles.Keys), func(t *testing.T) {
			f, err := NewTiled(device.QueueOf(d), tiles)
			if err != nil {
				t.Fatal(err)
			}
			attntest.Attention(t, d, f, true)
		})
	}
}

func TestTilesThatCannotBeStagedAreRefused(t *testing.T) {
	d := attntest.Device(t)
	for _, tiles := range []Tiles{{Queries: 160, Keys: 64}, {Queries: 64, Keys: 48}, {Queries: 144, Keys: 16}, {Queries: 8, Keys: 16}} {
		if _, err := NewTiled(device.QueueOf(d), tiles); err == nil {
			t.Errorf("tiles of %d queries and %d keys are taken", tiles.Queries, tiles.Keys)
		}
	}
}
