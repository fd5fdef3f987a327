package main

import (
	"math"

	"flashlab/attn"
	qkv "flashlab/bonus/b4_qkv"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
)

// kit is a submission, and the attention that its layer is given.
type kit struct {
	*qkv.QKV
	attention qkv.Attention
}

// given adds the attention, which is compiled when it is called first.
func given(q device.Queue) (*kit, error) {
	it, err := qkv.New(q)
	if err != nil {
		return nil, err
	}
	var attend device.Kernel
	return &kit{it, func(out, queries, keys, values qkv.Halves, s attn.Shape) error {
		if attend == nil {
			m, err := q.Compile(device.Source{Folder: "grader/tasks/b4/worker", Name: "attention.cu"})
			if err != nil {
				return err
			}
			if attend, err = m.Kernel("attend"); err != nil {
				return err
			}
		}
		if err := attn.CheckOf(s, out, queries, keys, values); err != nil {
			return err
		}
		l := device.Launch{Grid: device.D1(s.Batch * s.Heads * s.SeqQ), Block: device.D1(32)}
		return q.Launch(attend, l, queries, keys, values, out, s.SeqQ, s.Heads/s.KVHeads, s.Dim, s.Causal, float32(1/math.Sqrt(float64(s.Dim))))
	}}, nil
}

// layer has the layer write to the first output, and the function to the second. The layer has room for
// more rows than there are, and works on one token first.
func layer(it *kit, c problem.Problem, out, in worker.Places) error {
	var o [2]qkv.Halves
	var from [3]qkv.Halves
	var err error
	for i, m := range out {
		if o[i], err = device.BufferOf[device.Float16](m); err != nil {
			return err
		}
	}
	for i, m := range in {
		if from[i], err = device.BufferOf[device.Float16](m); err != nil {
			return err
		}
	}
	s := c.Sizes
	config := qkv.Config{Hidden: s["hidden"], Heads: s["heads"], KVHeads: s["kvheads"], Dim: s["dim"], Causal: c.Causal, MaxRows: s["batch"]*s["seq"] + 3}
	w := qkv.Weights[device.Float16]{W: from[1], Bias: from[2]}
	l, err := it.NewFusedQKVAttention(config, w, it.attention)
	if err != nil {
		return worker.StubIn("qkv.go", "NewFusedQKVAttention", err)
	}
	if !c.Refused {
		one, err := o[0].Slice(0, s["heads"]*s["dim"])
		if err != nil {
			return err
		}
		token, err := from[0].Slice(0, s["hidden"])
		if err != nil {
			return err
		}
		if err := l.Forward(one, token, 1, 1); err != nil {
			return worker.StubIn("qkv.go", "Forward", err)
		}
	}
	if err := l.Forward(o[0], from[0], s["batch"], s["seq"]); err != nil {
		return worker.StubIn("qkv.go", "Forward", err)
	}
	return worker.StubIn("qkv.go", "FusedQKVAttention", it.FusedQKVAttention(o[1], from[0], w, it.attention, config, s["batch"], s["seq"]))
}
