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
