package decode

// The public checks: `go test ./task5_decode`. They are few and small; `make grade
// TASK=5` has more and larger ones, and counts what is moved.

import (
	"errors"
	"fmt"
	"testing"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
)

func TestUpdate(t *testing.T) {
	d, it := begin(t)
	attntest.Update(t, d, it)
}

func TestDecode(t *testing.T) {
	d, it := begin(t)
	attntest.Decode(t, d, "Decode", it.Decode)
}

// TestRecorded decodes with a step that is recorded once and launched again while
// positions and lengths grow on the device.
func TestRecorded(t *testing.T) {
	d, it := begin(t)
	attntest.Recorded(t, d, it, it.Decode)
}

// TestSplit is about the optional part.
func TestSplit(t *testing.T) {
	d, it := begin(t)
	for _, parts := range []int{1, 3, 16} {
		t.Run(fmt.Sprint(parts), func(t *testing.T) {
			split := func(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence) error {
				err := it.DecodeSplit(out, q, c, s, lengths, parts)
				if errors.Is(err, attn.ErrNotImplemented) {
					t.Skip("DecodeSplit is an optional part, and still the stub")
				}
				return err
			}
			attntest.Decode(t, d, "DecodeSplit", split)
			t.Run("recorded", func(t *testing.T) { attntest.Recorded(t, d, it, split) })
		})
	}
}

func begin(t *testing.T) (device.Device, *Decode) {
	d := attntest.Device(t)
	it, err := New(device.QueueOf(d))
	if err != nil {
		t.Fatalf("New failed:\n%v", err)
	}
	return d, it
}
