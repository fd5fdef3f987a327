package qkv

import (
	"flashlab/attn"
	"flashlab/device"
)

// QKV holds what is prepared once and used by every call.
type QKV struct {
	queue device.Queue
}

// New prepares the kernels for one device, for both types. All compiling belongs here. About 30 lines.
func New(q device.Queue) (*QKV, error) { return &QKV{queue: q}, nil }

// Split takes a projection [Rows, Outputs] apart: it adds bias [Outputs], unless that is the zero Buffer,
// and writes column n to number n % Dim of head n / Dim, where heads count through those of q, then of
// k, then of v. q is [Batch, Heads, Seq, Dim], or [Batch, Seq, Heads, Dim] if p.TokensFirst; so are k
// and v, with KVHeads.
//   - Sums are float32, and rounded to halves once.
//   - CheckSplit returns the error for what cannot be done; return it before anything is launched.
//
// One launch. About 10 lines here, and 30 in kernels.cu.
func (t *QKV) Split(to Parts[device.Float16], projection, bias Halves, p Projection) error {
	return attn.ErrNotImplemented
}

// Float16 writes x [Rows, Hidden] · W + bias to q, k and v, as Split does.
//   - Sums are float32, the bias is added to them, and what comes of it is rounded to halves once.
//   - Check returns the error for what cannot be done; return it before anything is launched.
//
// One launch, without Split: a projection that is written and read again costs traffic. About 15 lines
// here, and 150 in kernels.cu.
func (t *QKV) Float16(to Parts[device.Float16], x Halves, w Weights[device.Float16], p Projection) error {
	return attn.ErrNotImplemented
}

// BFloat16 is the same for bfloat16.
func (t *QKV) BFloat16(to Parts[device.BFloat16], x device.Buffer[device.BFloat16], w Weights[device.BFloat16], p Projection) error {
	return attn.ErrNotImplemented
}

// FusedQKVAttention is an attention layer up to its output's projection: it makes q, k and v of x, and
// has a kernel that it is given attend.
type FusedQKVAttention struct{}

// NewFusedQKVAttention makes a layer, and allocates all that Forward needs, for c.MaxRows rows. Weights or
// a shape that cannot be served are an error here. About 20 lines.
func (t *QKV) NewFusedQKVAttention(c Config, w Weights[device.Float16], a Attention) (*FusedQKVAttention, error) {
	return nil, attn.ErrNotImplemented
}

// Forward writes the attention of x [batch · seq, Hidden] to out [batch, Heads, seq, Dim]. More rows than the
// layer has room for are an error. It allocates nothing. About 15 lines.
func (l *FusedQKVAttention) Forward(out, x Halves, batch, seq int) error {
	return attn.ErrNotImplemented
}

// FusedQKVAttention is the layer as a function: what it needs is allocated and freed by the call, and
// c.MaxRows does not count. About 10 lines.
func (t *QKV) FusedQKVAttention(out, x Halves, w Weights[device.Float16], a Attention, c Config, batch, seq int) error {
	return attn.ErrNotImplemented
}
