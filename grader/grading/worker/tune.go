package worker

import (
	"slices"
	"time"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/grading/problem"
)

// Tiled is an attention for the tiles that the case chooses, made again for each
// case: this is what tuning runs.
func Tiled[T attn.Kernel](make func(q device.Queue, queries, keys int) (T, error)) Op {
	return func(j *Job) (*problem.Answer, error) {
		m := Once(func(q device.Queue) (T, error) { return make(q, j.Tiles.Queries, j.Tiles.Keys) })
		return OnDevice(m, func(it T, c problem.Problem, out, in Buffers) error {
			run := func() error { return it.Run(out[0], in[0], in[1], in[2], c.Attention()) }
			if c.Repeat == 0 {
				return run()
			}
			took, err := Median(j.Device, c.Repeat, run)
			if j.Counts == nil {
				j.Counts = map[string]uint64{}
			}
			j.Counts[problem.Nanoseconds] = uint64(took)
			return err
		})(j)
	}
}

// Median times calls by the device's own clock, after a few that warm it up.
func Median(d device.Device, repeat int, run func() error) (time.Duration, error) {
	start, err := d.NewEvent()
	if err != nil {
		return 0, err
	}
	defer func() { _ = start.Close() }()
	stop, err := d.NewEvent()
	if err != nil {
		return 0, err
	}
	defer func() { _ = stop.Close() }()
	const warm = 3
	var times []time.Duration
	for i := range warm + repeat {
		if err := start.Record(); err != nil {
			return 0, err
		}
		if err := run(); err != nil {
			return 0, err
		}
		if err := stop.Record(); err != nil {
			return 0, err
		}
		took, err := stop.Since(start)
		if err != nil {
			return 0, err
		}
		if i >= warm {
			times = append(times, took)
		}
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}
