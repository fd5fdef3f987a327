package shared

import (
	"fmt"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
)

// FlashWindow is causal attention of which a query sees its last keys alone: a window of so many.
var FlashWindow = judge.Op{
	Name:    "flash_window",
	Sizes:   append(append([]string{}, Attention.Sizes...), "window"),
	Causal:  true,
	Tensors: attentionTensors,
	Rules: func(c problem.Problem) error {
		if !c.Causal {
			return fmt.Errorf("attention of %v: a window ends with the query's own key, so it needs causal = true", c.Attention())
		}
		return AttentionRules(c)
	},
	Judge:   judgeAttention,
	Least:   leastOfWindow,
	Timed:   timedWindow,
	Scratch: Flash.Scratch,
}

// leastOfWindow is reading q and writing out once, and the keys and values that some query sees.
func leastOfWindow(c problem.Problem) uint64 {
	s := c.Attention()
	seen := min(s.SeqK, s.SeqQ-1+s.Window) // the first query's window, and a key for each other query
	return 4 * uint64(2*s.QElements()+2*s.Batch*s.KVHeads*seen*s.Dim)
}

var timedWindow = &judge.Timed{
	Counted:  1,
	Small:    []int{1, 2, 33, 33, 16, 9},
	SelfTest: TimedAttention.SelfTest, // its worker has both
	Piece:    TimedAttention.Piece,
	Truth: func(c problem.Problem, from int) judge.Truth {
		s := c.Attention()
		row := from / s.Dim
		head, query := row/s.SeqQ, row%s.SeqQ
		end := max(query+1+s.SeqK-s.SeqQ, 0)
		first := max(end-s.Window, 0)
		keys, n := (head*s.SeqK+first)*s.Dim, (end-first)*s.Dim
		return OneRow(judge.InputPart(c, 0, from, s.Dim), judge.InputPart(c, 1, keys, n), judge.InputPart(c, 2, keys, n), s.Dim)
	},
	FLOPS: func(c problem.Problem) float64 {
		s := c.Attention()
		pairs := 0
		for i := range s.SeqQ {
			pairs += min(max(i+1+s.SeqK-s.SeqQ, 0), s.Window)
		}
		return 4 * float64(s.Batch*s.Heads) * float64(pairs) * float64(s.Dim)
	},
}

// windows are those that one writes by mistake. The causal mask is right in all of them.
func (p AttentionInputs) windows() []judge.Mistake {
	own := func(s attn.Shape, i int) int { return i + s.SeqK - s.SeqQ }
	from := func(first func(s attn.Shape, i int) int) Deviation {
		return Deviation{Sees: func(s attn.Shape, i, j int) bool { return j <= own(s, i) && j >= first(s, i) }}
	}
	list := []judge.Mistake{
		p.mistake(from(func(attn.Shape, int) int { return 0 }),
			"the window is ignored: keys before it are seen. s.Window says how many keys a query sees"),
		p.mistake(from(func(s attn.Shape, i int) int { return own(s, i) - s.Window }),
			"the window is off by one: a query sees one key too many. Its own key counts: s.Window keys in all"),
		p.mistake(from(func(s attn.Shape, i int) int { return own(s, i) - s.Window + 2 }),
			"the window is off by one: a query sees one key too few. Its own key counts: s.Window keys in all"),
		p.mistake(from(func(s attn.Shape, i int) int { return i - s.Window + 1 }),
			"the window counts from the query's number and not from its key: it ends at key i + SeqK − SeqQ"),
		p.mistake(Deviation{Sees: func(s attn.Shape, i, j int) bool { return j <= i && j > i-s.Window }},
			"mask and window start at the wrong corner: query i's own key is i + SeqK − SeqQ"),
		p.mistake(Deviation{Sees: func(s attn.Shape, i, j int) bool { return j <= own(s, i) && j < s.Window }},
			"the window counts from the first key: every query sees the first s.Window keys, and not its own last ones"),
	}
	for _, tile := range judge.Tiles { // of queries, and of keys
		begin := func(s attn.Shape, query int) int { return max(own(s, query)-s.Window+1, 0) / tile * tile }
		if begin(p.S, (p.S.SeqQ-1)/tile*tile) == 0 {
			continue // no tile can be left out
		}
		list = append(list,
			p.mistake(from(func(s attn.Shape, i int) int { return begin(s, i/tile*tile) }),
				"whole tiles before the window are left out, and nothing is masked in the first tile that is left: keys there lie before the window of most queries"),
			p.mistake(from(func(s attn.Shape, i int) int {
				return max(own(s, i)-s.Window+1, begin(s, i/tile*tile+tile-1))
			}),
				"too many tiles are left out: the first tile of keys is chosen by a block's last query, and its first queries see keys before that"))
	}
	return list
}
