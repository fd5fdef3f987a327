package main

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
	decode "flashlab/task5_decode"
)

// Update writes new tokens to the cache that a case gives.
func Update[T attn.Decoder](m *worker.Made[T]) worker.Op {
	return withEach("Update", "at", m, func(it T, c problem.Problem, out, in worker.Buffers, at attn.PerSequence) error {
		cache := attn.Cache{K: in[0], V: in[1], CacheShape: c.Cache()}
		return it.Update(cache, in[2], in[3], c.Sizes["count"], at)
	})
}

// Decode is one step of decoding against the cache that a case gives.
func Decode[T attn.Decoder](m *worker.Made[T]) worker.Op {
	return withEach("Decode", "lengths", m, func(it T, c problem.Problem, out, in worker.Buffers, lengths attn.PerSequence) error {
		cache := attn.Cache{K: in[1], V: in[2], CacheShape: c.Cache()}
		return it.Decode(out[0], in[0], cache, c.Decode(), lengths)
	})
}

// DecodeSplit is the same in parts. A submission need not have it. What it needs it takes in the first call of
// a shape: a second one is recorded, as a model's steps are.
func DecodeSplit[T attn.Decoder](m *worker.Made[T]) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		return withEach("DecodeSplit", "lengths", m, func(it T, c problem.Problem, out, in worker.Buffers, lengths attn.PerSequence) error {
			s, ok := any(it).(attn.SplitDecoder)
			if !ok {
				return attn.ErrNotImplemented
			}
			cache := attn.Cache{K: in[1], V: in[2], CacheShape: c.Cache()}
			split := func() error {
				return s.DecodeSplit(out[0], in[0], cache, c.Decode(), lengths, c.Sizes["parts"])
			}
			if err := split(); err != nil || c.Timed {
				return err
			}
			graph, err := j.Device.Record(func(device.Queue) error { return split() })
			if err != nil {
				return fmt.Errorf("recording a second call of the same shape: %w", err)
			}
			return graph.Close()
		})(j)
	}
}

// DecodeSplitTiled is the same, and where a case chooses tiles, with a Decode that is made for them, once for each size.
func DecodeSplitTiled(m *worker.Made[*decode.Decode]) worker.Op {
	made := map[int]*worker.Made[*decode.Decode]{0: m}
	return func(j *worker.Job) (*problem.Answer, error) {
		keys := j.Tiles.Keys
		if made[keys] == nil {
			made[keys] = worker.Once(func(q device.Queue) (*decode.Decode, error) {
				it, err := decode.NewTiled(q, keys)
				return it, worker.StubIn("tiles.go", "NewTiled", err)
			})
		}
		return DecodeSplit(made[keys])(j)
	}
}

// withEach is a method that takes a number for each sequence; what is the name that reports give to these.
func withEach[T any](name, what string, m *worker.Made[T], call func(it T, c problem.Problem, out, in worker.Buffers, each attn.PerSequence) error) worker.Op {
	return worker.Each(m, what, func(it T, c problem.Problem, out, in worker.Buffers, each attn.PerSequence) error {
		return worker.StubIn("decode.go", name, call(it, c, out, in, each))
	})
}
