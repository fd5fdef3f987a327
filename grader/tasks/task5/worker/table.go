package main

import (
	"errors"
	"fmt"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/device/open"
	"flashlab/device/sim"
	"flashlab/grader/grading/worker"
	"flashlab/internal/figure"
	decode "flashlab/task5_decode"
	"flashlab/tensor"
)

// comparison sets Decode beside DecodeSplit, over the number of tokens in the cache. On
// a GPU it is measured in time. The simulator keeps none: there it is the steps of
// the longest block, of both launches where there are two, which is what a GPU with
// room for all blocks would wait for.
type comparison struct {
	shape    attn.DecodeShape // with MaxSeq to come
	from, to int              // tokens in the cache
	splits   []int
}

// table writes the figure to a file.
func table(file, on string) error {
	d, err := open.Device(on, open.Options{Sim: sim.Options{Checks: sim.Checks{Traffic: true}}})
	if err != nil {
		return err
	}
	defer d.Close()
	it, err := decode.New(device.QueueOf(d))
	if err != nil {
		return err
	}
	c := comparison{shape: attn.DecodeShape{Heads: 1, CacheShape: attn.CacheShape{Batch: 1, KVHeads: 1, Dim: 64}}, from: 64, to: 4096, splits: []int{1, 4, 16}}
	cost, y := steps, "steps of the longest block, thousands"
	if d.Info().Kind != device.Sim {
		c = comparison{shape: attn.DecodeShape{Heads: 32, CacheShape: attn.CacheShape{Batch: 1, KVHeads: 8, Dim: 128}}, from: 256, to: 65536, splits: []int{1, 4, 16, 64}}
		cost, y = microseconds, "time of a step, µs"
	}
	f := figure.Figure{X: "tokens in the cache", Y: y, Title: fmt.Sprintf("Decoding: heads %d, key heads %d, dimension %d (%s)", c.shape.Heads, c.shape.KVHeads, c.shape.Dim, d.Info().Name)}
	for tokens := c.from; tokens <= c.to; tokens *= 2 {
		if err := c.row(&f, d, it, cost, tokens); err != nil {
			return fmt.Errorf("with %d tokens in the cache: %w", tokens, err)
		}
	}
	return f.Write(file)
}

// row compares for one number of tokens.
func (c comparison) row(f *figure.Figure, d device.Device, it *decode.Decode, cost func(device.Device, func() error) (float64, error), tokens int) error {
	s := c.shape
	s.MaxSeq = tokens
	var mine []device.Memory
	defer func() {
		for _, m := range mine {
			_ = d.Free(m)
		}
	}()
	var b [4]device.Buffer[float32] // q, k, v and out
	for i, n := range []int{s.Heads * s.Dim, s.Elements(), s.Elements(), s.Heads * s.Dim} {
		x, err := tensor.Random(tensor.Normal, 1, uint32(i), n)
		if err != nil {
			return err
		}
		if b[i], err = device.Upload(d, []string{"q", "cache.K", "cache.V", "out"}[i], x.Data); err != nil {
			return err
		}
		mine = append(mine, b[i].Memory())
	}
	on, err := device.Upload(d, "lengths", []int32{int32(tokens)})
	if err != nil {
		return err
	}
	mine = append(mine, on.Memory())
	cache, lengths := attn.Cache{K: b[1], V: b[2], CacheShape: s.CacheShape}, attn.PerSequence{Host: []int{tokens}, Device: on}
	point := func(series string, run func() error) error {
		y, err := cost(d, run)
		if err == nil {
			f.Add(series, figure.Line, figure.Point{X: float64(tokens), Y: y})
		}
		return err
	}
	if err := point("Decode", func() error { return it.Decode(b[3], b[0], cache, s, lengths) }); err != nil {
		return worker.StubIn("decode.go", "Decode", err)
	}
	for _, splits := range c.splits {
		series := fmt.Sprintf("in %d parts", splits)
		if splits == 1 {
			series = "in 1 part" // a Decode may share keys out, too
		}
		err := point(series, func() error { return it.DecodeSplit(b[3], b[0], cache, s, lengths, splits) })
		if errors.Is(err, attn.ErrNotImplemented) {
			return nil // it is optional
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// microseconds is the median time of a call.
func microseconds(d device.Device, run func() error) (float64, error) {
	took, err := worker.Median(d, 20, run)
	return float64(took.Nanoseconds()) / 1000, err
}

// steps is what one call costs in the simulator: for each launch, the thousands of
// accesses, barriers and basic blocks of its longest block.
func steps(d device.Device, run func() error) (float64, error) {
	simulator, ok := d.(*sim.Device)
	if !ok {
		return 0, errors.New("this is not the simulator")
	}
	before, err := longest(simulator)
	if err != nil {
		return 0, err
	}
	if err := run(); err != nil {
		return 0, err
	}
	if err := d.Sync(); err != nil {
		return 0, err
	}
	after, err := longest(simulator)
	return float64(after-before) / 1000, err
}

// longest adds up the longest blocks of all launches so far.
func longest(d *sim.Device) (sum uint64, err error) {
	r, err := d.Report()
	if err != nil {
		return 0, err
	}
	for _, c := range r.Launches {
		sum += c.LongestBlock
	}
	return sum, nil
}
