package tiled

import (
	"errors"
	"testing"

	"flashlab/attn"
)

// TestTiles runs Forward with the tiles that Tiles picks, in SRAMs from tight
// to ample, and shows how much was moved (go test -v).
func TestTiles(t *testing.T) {
	for _, p := range []problem{
		{seqQ: 50, seqK: 50, dim: 16, sram: 4 * (4*16 + 16)},
		{seqQ: 50, seqK: 50, dim: 16, sram: 2000},
		{seqQ: 50, seqK: 50, dim: 16, sram: 8000},
		{seqQ: 50, seqK: 50, dim: 16, sram: 1 << 20},
		{seqQ: 1, seqK: 300, dim: 8, sram: 1000},
	} {
		br, bc, err := Tiles(p.sram, p.seqQ, p.seqK, p.dim)
		switch {
		case errors.Is(err, attn.ErrNotImplemented):
			t.Fatal("not implemented: Tiles in attention.go is still the stub")
		case err != nil:
			t.Fatalf("Tiles(%d, %d, %d, %d): %v", p.sram, p.seqQ, p.seqK, p.dim, err)
		case br < 1 || bc < 1:
			t.Fatalf("Tiles(%d, %d, %d, %d) = %d, %d: want at least 1 of each", p.sram, p.seqQ, p.seqK, p.dim, br, bc)
		}
		p.br, p.bc = br, bc
		got, ok := check(t, p, "with these tiles, picked by Tiles; see TestForward first")
		if !ok {
			return
		}
		once := 4 * p.dim * (2*p.seqQ + 2*p.seqK)
		t.Logf("SRAM of %d bytes: br = %d, bc = %d, %d bytes moved: %.2f × reading q, k, v and writing o once",
			p.sram, br, bc, got.traffic.Total(), float64(got.traffic.Total())/float64(once))
	}
}

func TestTilesSaysWhenNothingFits(t *testing.T) {
	switch _, _, err := Tiles(64, 10, 10, 16); {
	case errors.Is(err, attn.ErrNotImplemented):
		t.Fatal("not implemented: Tiles in attention.go is still the stub")
	case err == nil:
		t.Error("Tiles(64, 10, 10, 16) returned no error: 64 bytes are 16 elements, which is one row of q and nothing else")
	}
}
