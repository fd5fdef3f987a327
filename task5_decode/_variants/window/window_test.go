package decode

import (
	"testing"

	"flashlab/attn/attntest"
)

// TestWindow is this year's part: a step that sees the last slots alone.
func TestWindow(t *testing.T) {
	d, it := begin(t)
	attntest.DecodeWindow(t, d, "Decode", it.Decode)
}
