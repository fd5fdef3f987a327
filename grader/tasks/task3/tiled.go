package task3

import (
	"fmt"
	"strings"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/grader/tasks/task3/sizes"
	"flashlab/tensor"
)

// tiled is task 3's Forward with tiles that the case gives.
var tiled = judge.Op{
	Name:    "tiled",
	Sizes:   []string{"seqq", "seqk", "dim", sizes.TileQueries, sizes.TileKeys},
	Causal:  true,
	Rules:   tiledRules,
	Tensors: tiledTensors,
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		return judgeTiled(c, in, out, c.Sizes[sizes.TileQueries], c.Sizes[sizes.TileKeys])
	},
	Least: judge.Once,
	Replay: func(c problem.Problem, in []*tensor.Tensor, a *problem.Answer) error {
		return replay(c, in, a, sizes.TiledRoom(c, c.Sizes[sizes.TileQueries], c.Sizes[sizes.TileKeys]))
	},
}

// chosenTiles is Forward with the tiles that Tiles picks for an SRAM of so many
// bytes. Its traffic is compared with that of the best tiles.
var chosenTiles = judge.Op{
	Name:   "chosen_tiles",
	Sizes:  []string{"seqq", "seqk", "dim", "sram"},
	Causal: true,
	Rules: func(c problem.Problem) error {
		if room, least := c.Sizes["sram"], 4*(4*c.Sizes["dim"]+16); room < least {
			return fmt.Errorf("an SRAM of %d bytes for dim %d: the task promises %d", room, c.Sizes["dim"], least)
		}
		return tiledRules(c)
	},
	Tensors: tiledTensors,
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		return judgeTiled(c, in, out, int(out.Counts[sizes.TileQueries]), int(out.Counts[sizes.TileKeys]))
	},
	Replay: func(c problem.Problem, in []*tensor.Tensor, a *problem.Answer) error {
		return replay(c, in, a, c.Sizes["sram"])
	},
	Least:   func(c problem.Problem) uint64 { return Yardstick(sizes.Tiled(c), c.Sizes["sram"]) },
	Against: "the best tiles' bytes",
}

// Yardstick is what FlashAttention-2 moves in bytes with the largest blocks of
// queries that leave room in the SRAM for a single key: q and o once, and k and
// v once for each block. Of as many blocks of equal size none reads more keys
// than some of its queries sees.
func Yardstick(s attn.Shape, sram int) uint64 {
	// q and o [br, dim], k or v [1, dim], scores [br, 1], three columns.
	largest := (sram/4 - s.Dim) / (2*s.Dim + 4)
	blocks := (s.SeqQ + largest - 1) / largest
	br := (s.SeqQ + blocks - 1) / blocks
	elements := 2 * s.SeqQ * s.Dim
	for first := 0; first < s.SeqQ; first += br {
		seen := s.SeqK
		if s.Causal {
			seen = min(first+br, s.SeqQ) + s.SeqK - s.SeqQ
		}
		elements += 2 * seen * s.Dim
	}
	return 4 * uint64(elements)
}

func tiledRules(c problem.Problem) error {
	if c.Causal {
		if err := shared.KeysForAll(c); err != nil {
			return err
		}
	}
	return shared.AttentionRules(c)
}

func tiledTensors(c problem.Problem) (in, out []problem.Tensor) {
	s := sizes.Tiled(c)
	q, kv := []int{s.SeqQ, s.Dim}, []int{s.SeqK, s.Dim}
	return []problem.Tensor{{Name: "q", Shape: q}, {Name: "k", Shape: kv, Dist: tensor.Normal}, {Name: "v", Shape: kv, Dist: tensor.Normal}},
		[]problem.Tensor{{Name: "o", Shape: q}}
}

// tiledCase describes a case with its tiles.
type tiledCase struct {
	judge.Shapes
	br, bc int
}

func (t tiledCase) String() string {
	text := fmt.Sprintf("%v, br = %d, bc = %d", t.Shapes, t.br, t.bc)
	if sram := t.Sizes["sram"]; sram > 0 {
		text += fmt.Sprintf(" in %d bytes of SRAM", sram)
	}
	return text
}

func judgeTiled(c problem.Problem, in []*tensor.Tensor, out problem.Answer, br, bc int) judge.Ruling {
	s := sizes.Tiled(c)
	p := tiling{shared.AttentionOn(s, in[0].Data, in[1].Data, in[2].Data)}
	got := out.Tensors[0].Data
	t := shared.AttentionTruth(p.Q, p.K, p.V, s)
	v := judge.Rule(c, tiledCase{judge.Shapes{Problem: c}, br, bc}, t, got, func(j judge.Judgement) string {
		if why := p.tiledPattern(t, got, j, br, bc); why != "" {
			return why
		}
		return p.Pattern(t, got, j)
	})
	v.Reason = strings.Replace(v.Reason, "Does the grid have a block for every row?", "Does the loop reach every block of queries?", 1)
	return v
}
