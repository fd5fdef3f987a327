// Command worker runs a submission of bonus task b7 for the grader.
package main

import (
	"slices"

	"flashlab/attn"
	kvcache "flashlab/bonus/b7_kvcache"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
)

func main() {
	it := worker.Once(kvcache.New)
	worker.Main(map[string]worker.Op{
		"append_int8": appending(it, int8s),
		"append_int4": appending(it, int4s),
		"decode_int8": decoding(it, int8s),
		"decode_int4": decoding(it, int4s),
		"turns_int8":  turns(it, int8s),
		"turns_int4":  turns(it, int4s),
	})
}

// calls are those of one format, on a cache that is made of places.
type calls struct {
	count  int // of a cache's places
	append func(it *kvcache.Cache, cache worker.Places, k, v kvcache.Halves, s attn.CacheShape, n attn.PerSequence) error
	decode func(it *kvcache.Cache, cache worker.Places, out, q kvcache.Halves, s attn.DecodeShape, n attn.PerSequence) error
}

var int8s = calls{4,
	func(it *kvcache.Cache, p worker.Places, k, v kvcache.Halves, s attn.CacheShape, n attn.PerSequence) error {
		c, err := eight(p)
		if err != nil {
			return err
		}
		return worker.StubIn("cache.go", "AppendInt8", it.AppendInt8(c, k, v, s, n))
	},
	func(it *kvcache.Cache, p worker.Places, out, q kvcache.Halves, s attn.DecodeShape, n attn.PerSequence) error {
		c, err := eight(p)
		if err != nil {
			return err
		}
		return worker.StubIn("cache.go", "DecodeInt8", it.DecodeInt8(out, q, c, s, n))
	},
}

var int4s = calls{8,
	func(it *kvcache.Cache, p worker.Places, k, v kvcache.Halves, s attn.CacheShape, n attn.PerSequence) error {
		c, err := four(p)
		if err != nil {
			return err
		}
		return worker.StubIn("cache.go", "AppendInt4", it.AppendInt4(c, k, v, s, n))
	},
	func(it *kvcache.Cache, p worker.Places, out, q kvcache.Halves, s attn.DecodeShape, n attn.PerSequence) error {
		c, err := four(p)
		if err != nil {
			return err
		}
		return worker.StubIn("cache.go", "DecodeInt4", it.DecodeInt4(out, q, c, s, n))
	},
}

// halves views places as such.
func halves(places ...device.Memory) ([]kvcache.Halves, error) {
	var all []kvcache.Halves
	for _, p := range places {
		b, err := device.BufferOf[device.Float16](p)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

func eight(p worker.Places) (c kvcache.Int8, err error) {
	if c.K, err = device.BufferOf[int8](p[0]); err != nil {
		return c, err
	}
	if c.V, err = device.BufferOf[int8](p[1]); err != nil {
		return c, err
	}
	h, err := halves(p[2:4]...)
	if err != nil {
		return c, err
	}
	c.KScales, c.VScales = h[0], h[1]
	return c, nil
}

func four(p worker.Places) (c kvcache.Int4, err error) {
	if c.K, err = device.BufferOf[uint8](p[0]); err != nil {
		return c, err
	}
	if c.V, err = device.BufferOf[uint8](p[1]); err != nil {
		return c, err
	}
	h, err := halves(p[2:8]...)
	if err != nil {
		return c, err
	}
	c.KScales, c.VScales, c.KLows, c.VLows, c.KOpen, c.VOpen = h[0], h[1], h[2], h[3], h[4], h[5]
	return c, nil
}

// appending adds the tokens k and v [count, batch, kvheads, dim], one after the other.
func appending(m *worker.Made[*kvcache.Cache], f calls) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		lengths, err := onDevice(j.Device, j.Each)
		if err != nil {
			return nil, err
		}
		defer func() { _ = lengths.Device.Free(j.Device) }()
		return worker.OnDevice(m, func(it *kvcache.Cache, c problem.Problem, out, in worker.Places) error {
			kv, err := halves(in[f.count], in[f.count+1])
			if err != nil {
				return err
			}
			for i := range c.Sizes["count"] {
				if err := token(j.Device, f, it, out, kv, c, i, &lengths); err != nil {
					return err
				}
			}
			return nil
		})(j)
	}
}

// token adds token i to every sequence.
func token(d device.Device, f calls, it *kvcache.Cache, cache worker.Places, kv []kvcache.Halves, c problem.Problem, i int, lengths *attn.PerSequence) error {
	s := c.Cache()
	n := s.Batch * s.Slot()
	k, err := kv[0].Slice(i*n, (i+1)*n)
	if err != nil {
		return err
	}
	v, err := kv[1].Slice(i*n, (i+1)*n)
	if err != nil {
		return err
	}
	if err := f.append(it, cache, k, v, s, *lengths); err != nil {
		return err
	}
	next := slices.Clone(lengths.Host)
	for b := range next {
		next[b]++
	}
	return set(d, lengths, next)
}

func decoding(m *worker.Made[*kvcache.Cache], f calls) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		lengths, err := onDevice(j.Device, j.Each)
		if err != nil {
			return nil, err
		}
		defer func() { _ = lengths.Device.Free(j.Device) }()
		return worker.OnDevice(m, func(it *kvcache.Cache, c problem.Problem, out, in worker.Places) error {
			h, err := halves(out[0], in[0])
			if err != nil {
				return err
			}
			return f.decode(it, in[1:], h[0], h[1], c.Decode(), lengths)
		})(j)
	}
}

// turns adds tokens to sequences that begin anew before their last ones, and decodes.
func turns(m *worker.Made[*kvcache.Cache], f calls) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		lengths, err := onDevice(j.Device, make([]int, len(j.Each)))
		if err != nil {
			return nil, err
		}
		defer func() { _ = lengths.Device.Free(j.Device) }()
		return worker.OnDevice(m, func(it *kvcache.Cache, c problem.Problem, out, in worker.Places) error {
			cache, count := in[1:1+f.count], c.Sizes["count"]
			kv, err := halves(in[1+f.count], in[2+f.count])
			if err != nil {
				return err
			}
			h, err := halves(out[0], in[0])
			if err != nil {
				return err
			}
			for i := range count + 1 {
				now := slices.Clone(lengths.Host)
				for b, last := range c.Each {
					if i == count-last {
						now[b] = 0
					}
				}
				if err := set(j.Device, &lengths, now); err != nil {
					return err
				}
				if i == count {
					break
				}
				if err := token(j.Device, f, it, cache, kv, c, i, &lengths); err != nil {
					return err
				}
			}
			return f.decode(it, cache, h[0], h[1], c.Decode(), lengths)
		})(j)
	}
}

// onDevice puts the lengths there, too.
func onDevice(d device.Device, lengths []int) (attn.PerSequence, error) {
	b, err := device.Upload(d, "lengths", narrow(lengths))
	return attn.PerSequence{Host: lengths, Device: b}, err
}

func set(d device.Device, n *attn.PerSequence, lengths []int) error {
	n.Host = lengths
	return n.Device.CopyIn(d, narrow(lengths))
}

func narrow(numbers []int) []int32 {
	n := make([]int32, len(numbers))
	for i, x := range numbers {
		n[i] = int32(x)
	}
	return n
}
