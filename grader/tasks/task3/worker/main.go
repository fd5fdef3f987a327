// Command task3 runs a submission of task 3 for the grader. With the arguments
// table -device KIND FILE it measures what the submission moves, for `make plot TASK=3`.
package main

import (
	"fmt"
	"math"
	"os"

	"flashlab/attn"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
	"flashlab/grader/tasks/task3/sizes"
	"flashlab/hbm"
	tiled "flashlab/task3_tiled_go"
	"flashlab/tensor"
)

func main() {
	if len(os.Args) == 5 && os.Args[1] == "table" { // on no device: its machine is hbm's
		if err := table(os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, "table:", err)
			os.Exit(1)
		}
		return
	}
	worker.Main(map[string]worker.Op{"tiled": given, "chosen_tiles": chosen})
}

// given runs Forward with the case's tiles, in the room that they are promised.
func given(j *worker.Job) (*problem.Answer, error) {
	br, bc := j.Sizes[sizes.TileQueries], j.Sizes[sizes.TileKeys]
	return forward(j, sizes.TiledRoom(j.Problem, br, bc), br, bc)
}

// chosen runs it with the tiles that Tiles picks for the case's SRAM.
func chosen(j *worker.Job) (*problem.Answer, error) {
	s, sram := sizes.Tiled(j.Problem), j.Sizes["sram"]
	br, bc, err := tiled.Tiles(sram, s.SeqQ, s.SeqK, s.Dim)
	if err != nil {
		return nil, worker.Stub("Tiles", err)
	}
	if br < 1 || bc < 1 {
		return nil, fmt.Errorf("Tiles(%d, %d, %d, %d) returned br = %d and bc = %d: want at least 1 of each", sram, s.SeqQ, s.SeqK, s.Dim, br, bc)
	}
	out, err := forward(j, sram, br, bc)
	if err != nil {
		return nil, fmt.Errorf("with br = %d and bc = %d, as Tiles(%d, %d, %d, %d) picked them: %w", br, bc, sram, s.SeqQ, s.SeqK, s.Dim, err)
	}
	return out, nil
}

// poison shows what was never written; the grader knows its bits.
var poison = math.Float32frombits(0xFFFFFFFF)

// forward runs the submission once, on a separate machine.
func forward(j *worker.Job, sram, br, bc int) (*problem.Answer, error) {
	s := sizes.Tiled(j.Problem)
	machine := hbm.New(sram)
	machine.StartLog()
	in, o, err := matrices(machine, empty(j.Inputs), s)
	if err != nil {
		return nil, err
	}
	if err := tiled.Forward(machine.SRAM(), o, in[0], in[1], in[2], br, bc, s.Causal); err != nil {
		return nil, worker.Stub("Forward", err)
	}
	if err := machine.SRAM().Err(); err != nil {
		return nil, fmt.Errorf("%w (Forward returned nil: let it end with return sram.Err())", err)
	}
	return &problem.Answer{Record: append([]byte{}, machine.Log()...), Counts: map[string]uint64{
		sizes.TileQueries: uint64(br), sizes.TileKeys: uint64(bc),
	}}, nil
}

// empty are matrices of zeros: what Forward asks for does not depend on the numbers, and
// this process is not to have them. The grader does it again with the real ones.
func empty(inputs []problem.Tensor) (all []*tensor.Tensor) {
	for _, i := range inputs {
		all = append(all, tensor.New(i.Shape...))
	}
	return all
}

// matrices puts q, k and v into HBM, and makes room for o.
func matrices(m *hbm.Machine, in []*tensor.Tensor, s attn.Shape) (inputs []*hbm.Matrix, o *hbm.Matrix, err error) {
	for i, name := range []string{"q", "k", "v"} {
		x, err := m.Input(name, in[i].Shape[0], in[i].Shape[1], in[i].Data)
		if err != nil {
			return nil, nil, err
		}
		inputs = append(inputs, x)
	}
	o, err = m.Output("o", s.SeqQ, s.Dim, poison)
	return inputs, o, err
}
