package quantized

import (
	"flashlab/attn"
	"flashlab/device"
)

// Model is a Llama, ready to decode.
type Model struct {
	Config
	queue device.Queue
	kit   *Kit
}

// New loads the weights, and allocates all that the model will ever need. About 100 lines, with helpers.
//   - After New the device holds what README.md's formula says: of weights with four bits no copy in halves
//     stays. While New runs, there may be the largest matrix in halves besides.
//   - Caches need not be filled with anything: no token that was not appended is ever read.
func New(q device.Queue, k *Kit, c Config, from Checkpoint, w Way) (*Model, error) {
	return &Model{Config: c, queue: q, kit: k}, nil
}

// Step queues one step of every sequence: logits [Batch, Vocabulary], after the tokens [Batch], which come
// behind lengths [Batch] others.
//   - It only launches. A step is recorded once, and replayed for other tokens and lengths, which are
//     known on the device alone.
//   - A sequence whose length is 0 again begins anew.
//
// About 50 lines.
func (m *Model) Step(logits Floats, tokens, lengths Ints) error {
	return attn.ErrNotImplemented
}
