package attntest

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/device"
)

// Update checks how a decoder writes to a cache.
func Update(t *testing.T, d device.Device, it attn.Decoder) {
	one := attn.CacheShape{Batch: 1, MaxSeq: 1, KVHeads: 1, Dim: 1}
	writing{shape: one, count: 1, at: []int{0}}.check(t, d, it) // is anything written yet?
	for _, c := range []writing{
		{"first", attn.CacheShape{Batch: 1, MaxSeq: 3, KVHeads: 1, Dim: 2}, 1, []int{0}, ""},
		{"last", attn.CacheShape{Batch: 1, MaxSeq: 3, KVHeads: 1, Dim: 2}, 1, []int{2}, ""},
		{"each_its_own", attn.CacheShape{Batch: 3, MaxSeq: 9, KVHeads: 2, Dim: 5}, 1, []int{8, 0, 3}, ""},
		{"many", attn.CacheShape{Batch: 2, MaxSeq: 40, KVHeads: 2, Dim: 33}, 17, []int{23, 4}, ""},
		{"beyond", attn.CacheShape{Batch: 2, MaxSeq: 4, KVHeads: 1, Dim: 4}, 1, []int{1, 4}, "sequence 1 has no slot 4"},
		{"many_beyond", attn.CacheShape{Batch: 1, MaxSeq: 4, KVHeads: 1, Dim: 4}, 3, []int{2}, "the third token would take slot 4 of 0 … 3"},
		{"negative", attn.CacheShape{Batch: 2, MaxSeq: 4, KVHeads: 1, Dim: 4}, 1, []int{0, -1}, "there is no slot -1"},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, d, it) })
	}
}

// writing is an update of a cache that is full of other numbers.
type writing struct {
	name   string
	shape  attn.CacheShape
	count  int
	at     []int
	refuse string // why, if it must
}

func (c writing) check(t *testing.T, d device.Device, it attn.Decoder) {
	t.Helper()
	s := c.shape
	cache := attn.Cache{CacheShape: s, K: Input(t, d, "cache.K", counting(s.Elements(), 0)), V: Input(t, d, "cache.V", counting(s.Elements(), 0.5))}
	k, v := counting(s.Batch*c.count*s.Slot(), 1e6), counting(s.Batch*c.count*s.Slot(), 2e6)
	err := it.Update(cache, Input(t, d, "k", k), Input(t, d, "v", v), c.count, countsOn(t, d, "at", c.at))
	answered(t, d, "Update", err, c.refuse)
	gotK, err := cache.K.CopyOut(d)
	require.NoError(t, err)
	gotV, err := cache.V.CopyOut(d)
	require.NoError(t, err)
	Findings(t, d)
	for i := range gotK {
		token, x := i/s.Slot(), i%s.Slot()
		b, slot := token/s.MaxSeq, token%s.MaxSeq
		wantK, wantV, is := float32(i), float32(i)+0.5, "what was there before: no new token goes there"
		if n := slot - c.at[b]; c.refuse == "" && n >= 0 && n < c.count {
			from := (b*c.count+n)*s.Slot() + x
			wantK, wantV, is = k[from], v[from], "the new number"
		}
		if gotK[i] != wantK || gotV[i] != wantV {
			t.Errorf("update of %v, %d new tokens at %v: slot %d of sequence %d, number %d: got k = %v and v = %v, want %v and %v, %s",
				s, c.count, c.at, slot, b, x, gotK[i], gotV[i], wantK, wantV, is)
			return
		}
	}
}

// answered ends the test if a call did not do what it should, which is either to
// return no error or to refuse.
func answered(t *testing.T, d device.Device, call string, err error, refuse string) {
	t.Helper()
	if errors.Is(err, attn.ErrNotImplemented) {
		t.Fatalf("not implemented: %s in decode.go is still the stub (README.md says where to start)", call)
	}
	switch {
	case refuse != "" && err == nil:
		t.Errorf("%s returned no error: %s", call, refuse)
	case refuse == "" && err != nil:
		Fatal(t, d, "%s failed: %v", call, err)
	}
	if err := d.Sync(); err != nil {
		Fatal(t, d, "%s: %v", call, err)
	}
}

// countsOn puts the numbers, one for each sequence, on both host and device.
func countsOn(t *testing.T, d device.Device, name string, n []int) attn.PerSequence {
	t.Helper()
	var narrow []int32
	for _, x := range n {
		narrow = append(narrow, int32(x))
	}
	b, err := device.Upload(d, name, narrow)
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Free(d) })
	return attn.PerSequence{Host: n, Device: b}
}

// counting is from, from + 1, …: every number shows where it comes from.
func counting(n int, from float32) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = from + float32(i)
	}
	return x
}

// stale is a cache's k or v with NaN after the first lengths[b] slots.
func stale(x []float32, s attn.CacheShape, lengths []int) []float32 {
	y := slices.Clone(x)
	for i := range y {
		if token := i / s.Slot(); token%s.MaxSeq >= lengths[token/s.MaxSeq] {
			y[i] = float32(math.NaN())
		}
	}
	return y
}
