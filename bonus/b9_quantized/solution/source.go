// Package quantized is bonus task b9: the whole model, put together from pieces whose weights and cache
// have halves or four bits, and what each way should bring, written down before it is run.
//
// README.md is the handout. You edit quantized.go and sheet.go. This file is provided: the grader
// never takes a student's copy of it.
package quantized

import "flashlab/nn/kit"

// The pieces, which nn/kit has: kit.go, cache.go and weights.go say what each of Kit's methods does.
type (
	Kit        = kit.Kit
	Config     = kit.Config
	Checkpoint = kit.Checkpoint
	Name       = kit.Name
	Kind       = kit.Kind

	Floats = kit.Floats // activations
	Halves = kit.Halves
	Ints   = kit.Ints
	Bytes  = kit.Bytes
	Four   = kit.Four  // weights of four bits
	Plain  = kit.Plain // a layer's cache in halves
	Kivi   = kit.Kivi  // a layer's cache of four bits
)

// The formats' groups, and the names of a model's weights.
const (
	WeightGroup = kit.WeightGroup
	CacheGroup  = kit.CacheGroup

	Embedding = kit.Embedding
	Norm1     = kit.Norm1
	QKV       = kit.QKV
	Out       = kit.Out
	Norm2     = kit.Norm2
	GateUp    = kit.GateUp
	Down      = kit.Down
	Last      = kit.Last
	Head      = kit.Head
)

// Way is how a model keeps what it reads in each step.
type Way struct {
	KIVI bool // the cache has four bits
	INT4 bool // QKV, Out, GateUp and Down have four bits; everything else stays halves
}

// Reads is how many bytes a step reads, if it reads everything once.
type Reads struct {
	Matrices float64 // QKV, Out, GateUp and Down of all layers
	Head     float64 // the head
	Cache    float64 // of all tokens of all sequences, K and V
}

// Prediction is a line of the sheet: one part of a step is made faster.
type Prediction struct {
	Share  float64 // of the step's time, that this part takes before: 0 to 1
	Faster float64 // how many times as fast the part becomes
	Gain   float64 // how many times as fast the step becomes
}

// Sheet is what you expect of one workload. Attention is from a plain kernel to that of b6; KIVI and INT4 go on
// from there, each by itself, and All is both: how many times as fast the step becomes.
type Sheet struct {
	Attention, KIVI, INT4 Prediction
	All                   float64
}

// Workloads are those of the sheet: a step of Llama 3.1 8B after so many tokens.
var Workloads = [...]struct{ Batch, Tokens int }{{1, 768}, {16, 768}, {16, 8192}}

// Llama is the shape of Llama 3.1 8B, with room for such a workload.
func Llama(batch, tokens int) Config {
	return Config{Batch: batch, Slots: tokens, Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, Dim: 128, MLP: 14336, Vocabulary: 128256}
}
