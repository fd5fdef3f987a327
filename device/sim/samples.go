package sim

import (
	"slices"

	"flashlab/device/trace"
)

// rawSamples is what runtime/samples.cpp writes.
type rawSamples struct {
	Banked []struct {
		Module                           int
		PC                               uint64
		Op, Name, Owner                  string
		Bytes, Passes, Block, Warp, Size int
		Mask                             uint32
		At                               [32]int64
	}
	Arrays []struct {
		Name        string
		Bytes, Cell int
		Runs        [][5]uint64
	}
	MoreArrays bool
	Timeline   *struct {
		Module, Block, Threads, Left int
		Stretches                    []struct {
			Line  int
			Warps [][5]uint64 // the longest lane's steps, requests, lanes that made them, those of the smallest, where
		}
	}
}

func (d *Device) samples(raw rawSamples) *trace.Samples {
	s := &trace.Samples{MoreArrays: raw.MoreArrays}
	for _, r := range raw.Banked {
		file, at := d.place(r.Module, r.PC)
		one := trace.BankRequest{File: file, Line: at.line, Op: r.Op, Bytes: r.Bytes, Passes: r.Passes, Block: r.Block, Warp: r.Warp,
			Array: r.Name, Lanes: r.At}
		if m := d.module(r.Module); m != nil {
			if a, ok := m.debug().array(r.Owner, r.Name); ok && a.bytes() == int64(r.Size) {
				one.Element = int(a.elemSize)
				for _, n := range a.dims {
					one.Dims = append(one.Dims, int(n))
				}
			}
		}
		for lane := range one.Lanes {
			if r.Mask>>lane&1 == 0 {
				one.Lanes[lane] = trace.NoLane
			}
		}
		s.Banks = append(s.Banks, one)
	}
	for _, a := range raw.Arrays {
		one := trace.ArrayUse{Name: a.Name, Bytes: a.Bytes, Part: a.Cell}
		for _, r := range a.Runs {
			one.Runs = append(one.Runs, trace.ArrayRun{Parts: int(r[0]), Read: r[1], Written: r[2], Readers: int(r[3]), Writers: int(r[4])})
		}
		s.Arrays = append(s.Arrays, one)
	}
	slices.SortStableFunc(s.Banks, func(a, b trace.BankRequest) int { return a.Line - b.Line })
	if raw.Timeline != nil {
		s.Timeline = d.timeline(raw)
	}
	return s
}

func (d *Device) timeline(raw rawSamples) *trace.Timeline {
	from := raw.Timeline
	t := &trace.Timeline{Block: from.Block, Threads: from.Threads, Left: from.Left}
	if m := d.module(from.Module); m != nil {
		t.File = m.source.Name
	}
	for _, s := range from.Stretches {
		one := trace.Stretch{Line: s.Line}
		for _, w := range s.Warps {
			warp := trace.WarpStretch{Longest: w[0], Requests: w[1], Lanes: w[2], Apart: uint32(w[3])}
			if warp.Apart != 0 {
				file, at := d.place(from.Module, w[4])
				warp.File, warp.Line = file, at.line
			}
			one.Warps = append(one.Warps, warp)
		}
		t.Stretches = append(t.Stretches, one)
	}
	return t
}
