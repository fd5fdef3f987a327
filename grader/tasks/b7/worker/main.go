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

// The compiler says where a submission's methods are not those of the contract.
var _ interface {
	AppendInt8(to kvcache.Int8, k, v kvcache.Halves, s attn.CacheShape, lengths attn.PerSequence) error
	AppendInt4(to kvcache.Int4, k, v kvcache.Halves, s attn.CacheShape, lengths attn.PerSequence) error
	DecodeInt8(out, q kvcache.Halves, from kvcache.Int8, s attn.DecodeShape, lengths attn.PerSequence) error
	DecodeInt4(out, q kvcache.Halves, from kvcache.Int4, s attn.DecodeShape, lengths attn.PerSequence) error
} = (*kvcache.Cache)(nil)

func main() {
	it := worker.Once(kvcache.New)
	method := func(method any) worker.Bound { return worker.Method("cache.go", method) }
	int8s := format{4, method((*kvcache.Cache).AppendInt8), method((*kvcache.Cache).DecodeInt8)}
	int4s := format{8, method((*kvcache.Cache).AppendInt4), method((*kvcache.Cache).DecodeInt4)}
	worker.Main(map[string]worker.Op{
		"append_int8": int8s.appending(it),
		"append_int4": int4s.appending(it),
		"decode_int8": worker.Calls(it, "cache.go", (*kvcache.Cache).DecodeInt8),
		"decode_int4": worker.Calls(it, "cache.go", (*kvcache.Cache).DecodeInt4),
		"turns_int8":  int8s.turns(it),
		"turns_int4":  int4s.turns(it),
	})
}

// format is one of the two, on a cache of so many tensors.
type format struct {
	count          int
	append, decode worker.Bound
}

// appending adds the tokens k and v [count, batch, kvheads, dim], one after the other.
func (f format) appending(m *worker.Made[*kvcache.Cache]) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		return worker.Each(m, "lengths", func(
			it *kvcache.Cache, c problem.Problem, out, in worker.Places, lengths attn.PerSequence,
		) error {
			for i := range c.Sizes["count"] {
				if err := f.token(j.Device, it, c, out, in[f.count:], i, &lengths); err != nil {
					return err
				}
			}
			return nil
		})(j)
	}
}

// token adds token i of k and v to every sequence.
func (f format) token(
	d device.Device, it *kvcache.Cache, c problem.Problem, cache, kv worker.Places, i int, lengths *attn.PerSequence,
) error {
	var one worker.Places
	for _, m := range kv[:2] {
		bytes := m.Bytes / int64(c.Sizes["count"])
		one = append(one, device.Memory{Addr: m.Addr + uint64(int64(i)*bytes), Bytes: bytes, Name: m.Name})
	}
	if err := f.append.Call(it, c, cache, one, *lengths); err != nil {
		return err
	}
	next := slices.Clone(lengths.Host)
	for b := range next {
		next[b]++
	}
	return set(d, lengths, next)
}

// turns adds tokens to sequences that begin anew before their last ones, and decodes.
func (f format) turns(m *worker.Made[*kvcache.Cache]) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		return worker.Each(m, "lengths", func(
			it *kvcache.Cache, c problem.Problem, out, in worker.Places, lengths attn.PerSequence,
		) error {
			cache, count := in[1:1+f.count], c.Sizes["count"]
			lengths.Host = make([]int, len(c.Each))
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
				if err := f.token(j.Device, it, c, cache, in[1+f.count:], i, &lengths); err != nil {
					return err
				}
			}
			return f.decode.Call(it, c, out, in[:1+f.count], lengths)
		})(j)
	}
}

func set(d device.Device, n *attn.PerSequence, lengths []int) error {
	n.Host = lengths
	return n.Device.CopyIn(d, worker.Int32s(lengths))
}
