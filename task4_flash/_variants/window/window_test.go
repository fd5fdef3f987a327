package flash

import (
	"testing"

	"flashlab/attn/attntest"
	"flashlab/device"
)

// TestWindow is this year's part: queries that see their last keys alone.
func TestWindow(t *testing.T) {
	d := attntest.Device(t)
	f, err := New(device.QueueOf(d))
	if err != nil {
		t.Fatalf("New failed:\n%v", err)
	}
	attntest.Window(t, d, f)
}
