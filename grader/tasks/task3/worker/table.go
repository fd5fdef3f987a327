package main

import (
	"errors"
	"fmt"
	"math"

	"flashlab/attn"
	"flashlab/hbm"
	"flashlab/internal/figure"
	tiled "flashlab/task3_tiled_go"
	"flashlab/tensor"
)

// The plotted problem: large enough to show the slope, small enough to run.
const (
	tableSeq = 1024
	tableDim = 64
)

// table measures the traffic of Forward, with the tiles that Tiles picks, for
// SRAMs from 2 KB to 1 MB, beside two lines of theory, and writes the figure to a file.
func table(file string) error {
	f := figure.Figure{Title: fmt.Sprintf("Traffic against the size of the SRAM: N = %d, d = %d", tableSeq, tableDim), X: "SRAM, KB", Y: "bytes moved, MB"}
	once := 4.0 * tableSeq * tableDim * 4 // q, k, v and o
	scores := once + 4.0*tableSeq*tableSeq*4
	for step := range 19 {
		kb := math.Round(100*math.Pow(2, 1+float64(step)/2)) / 100
		for _, causal := range []bool{false, true} {
			moved, err := measure(int(kb*1024), causal)
			if errors.Is(err, attn.ErrNotImplemented) {
				return errors.New("there is nothing to measure yet: Tiles and Forward are written first, task3_tiled_go/README.md says where to start; then make grade TASK=3")
			}
			if err != nil {
				return fmt.Errorf("with %g KB of SRAM: %w", kb, err)
			}
			name := "tiles, full"
			if causal {
				name = "tiles, causal"
			}
			f.Add(name, figure.Line, figure.Point{X: kb, Y: mb(float64(moved))})
		}
		f.Add("scores written out", figure.Dashes, figure.Point{X: kb, Y: mb(scores)})
		f.Add("each matrix once", figure.Dashes, figure.Point{X: kb, Y: mb(once)})
	}
	return f.Write(file)
}

func mb(bytes float64) float64 { return bytes / (1 << 20) }

// measure runs Forward once and tells how many bytes it moved.
func measure(sram int, causal bool) (uint64, error) {
	br, bc, err := tiled.Tiles(sram, tableSeq, tableSeq, tableDim)
	if err != nil {
		return 0, err
	}
	var in []*tensor.Tensor
	for stream := range 3 {
		x, err := tensor.Random(tensor.Normal, 1, uint32(stream), tableSeq, tableDim)
		if err != nil {
			return 0, err
		}
		in = append(in, x)
	}
	machine := hbm.New(sram)
	matrices, o, err := matrices(machine, in, attn.Shape{SeqQ: tableSeq, Dim: tableDim})
	if err != nil {
		return 0, err
	}
	if err := tiled.Forward(machine.SRAM(), o, matrices[0], matrices[1], matrices[2], br, bc, causal); err != nil {
		return 0, err
	}
	return machine.Traffic().Total(), machine.SRAM().Err()
}
