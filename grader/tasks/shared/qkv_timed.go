package shared

import (
	"fmt"

	"flashlab/grader/grading/judge"
)

// Piece is a head of one token in q, k or v, which are outputs 0, 1 and 2.
type Piece struct{ Output, Batch, Token, Head int }

// PieceAt is the one that begins at a number of q.
func (p QKV) PieceAt(from int) Piece {
	row := from / p.Dim
	if p.TokensFirst {
		return Piece{Batch: row / p.Heads / p.Seq, Token: row / p.Heads % p.Seq, Head: row % p.Heads}
	}
	return Piece{Batch: row / p.Seq / p.Heads, Token: row % p.Seq, Head: row / p.Seq % p.Heads}
}

// Row is the piece's, of x.
func (p QKV) Row(at Piece) int { return at.Batch*p.Seq + at.Token }

// Column is the first of the piece's, of [Wq | Wk | Wv].
func (p QKV) Column(at Piece) int {
	head, all := at.Head, p.heads()
	for _, heads := range all[:at.Output] {
		head += heads
	}
	return head * p.Dim
}

// span is where the piece lies.
func (p QKV) span(at Piece) judge.Span {
	heads := p.heads()[at.Output]
	row := (at.Batch*heads+at.Head)*p.Seq + at.Token
	if p.TokensFirst {
		row = p.Row(at)*heads + at.Head
	}
	return judge.Span{Output: at.Output, From: row * p.Dim, Size: p.Dim}
}

// Rest are the same token's heads of k and v, for a piece of q: query heads share them evenly.
func (p QKV) Rest(from int, truth func(at Piece) judge.Truth) ([]judge.Span, func(got [][]float32) string) {
	at := p.PieceAt(from)
	at.Head %= p.KVHeads
	k, v := at, at
	k.Output, v.Output = 1, 2
	return []judge.Span{p.span(k), p.span(v)}, func(got [][]float32) string {
		for i, piece := range []Piece{k, v} {
			if j := truth(piece).Judge(got[i]); !j.Passed {
				return fmt.Sprintf("element %d of %s is %g, want %g (error %.2g of the row's size, %.2g allowed)",
					p.span(piece).From+j.Worst, "kv"[i:i+1], j.Got, j.Want, j.Error, j.Bound)
			}
		}
		return ""
	}
}
