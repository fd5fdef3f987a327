package decode

import (
	"flashlab/attn"
	"flashlab/device"
)

// NewTiled is optional, for `make tune TASK=5`: a Decode whose DecodeSplit takes tiles of so many keys, 16 to 128, in each
// block. What it has no tiles of is an error. A macro that kernels.cu takes for its size, with a default, is all it needs
// (device.Source's Defines). About 10 lines.
func NewTiled(q device.Queue, keys int) (*Decode, error) {
	return nil, attn.ErrNotImplemented
}
