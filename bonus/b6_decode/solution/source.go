// Package decode is bonus task b6: decoding against a cache in float16 and bfloat16.
//
// README.md is the handout. You edit decode.go and kernels.cu.
package decode

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
)

// Source is kernels.cu, as Queue.Compile takes it. This file is provided: the
// grader never takes a student's copy of it.
var Source = device.Source{Folder: "bonus/b6_decode", Name: "kernels.cu"}

// Step is what both methods of Decode are: one for each type.
type Step[T device.Half] func(d *Decode, out, q, k, v device.Buffer[T], s attn.DecodeShape, lengths attn.PerSequence) error

// PageSlots is how many tokens a page of a cache in pages has.
const PageSlots = 16

// CheckPaged is Check for a cache in pages: k and v [pages, PageSlots, KVHeads, Dim] of any number of
// pages, table [Batch, ⌈MaxSeq / PageSlots⌉]. The table is on the device, so its numbers are not checked.
func CheckPaged[T device.Half](out, q, k, v device.Buffer[T], table device.Buffer[int32], s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := checkStep(out, q, s, lengths); err != nil {
		return err
	}
	page, columns := PageSlots*s.Slot(), (s.MaxSeq+PageSlots-1)/PageSlots
	switch {
	case k.Len() < page || k.Len()%page != 0 || v.Len() != k.Len():
		return fmt.Errorf("decoding of %v in pages: k holds %d elements and v %d, want as many in both, whole pages of %d", s, k.Len(), v.Len(), page)
	case table.Len() != s.Batch*columns:
		return fmt.Errorf("decoding of %v in pages: the table holds %d numbers, want %d for each of %d sequences", s, table.Len(), columns, s.Batch)
	}
	return nil
}

// Check tells what is wrong with a call: with its shape, the sizes of its buffers, or the lengths.
func Check[T device.Half](out, q, k, v device.Buffer[T], s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := checkStep(out, q, s, lengths); err != nil {
		return err
	}
	for _, b := range []device.Buffer[T]{k, v} {
		if b.Len() != s.Elements() {
			return fmt.Errorf("decoding of %v: the buffer %q holds %d elements, want %d", s, b.Name(), b.Len(), s.Elements())
		}
	}
	return nil
}

// checkStep looks at all but the cache.
func checkStep[T device.Half](out, q device.Buffer[T], s attn.DecodeShape, lengths attn.PerSequence) error {
	switch {
	case min(s.Batch, s.MaxSeq, s.KVHeads, s.Heads, s.Dim) < 1:
		return fmt.Errorf("decoding of %v: every dimension must be at least 1", s)
	case s.Heads%s.KVHeads != 0:
		return fmt.Errorf("decoding of %v: %d query heads cannot share %d key heads evenly", s, s.Heads, s.KVHeads)
	case s.Dim != 64 && s.Dim != 128:
		return fmt.Errorf("decoding of %v: the head dimension is 64 or 128 here", s)
	}
	for _, b := range []device.Buffer[T]{out, q} {
		if want := s.Batch * s.Heads * s.Dim; b.Len() != want {
			return fmt.Errorf("decoding of %v: the buffer %q holds %d elements, want %d", s, b.Name(), b.Len(), want)
		}
	}
	if err := s.CheckPerSequence("lengths", lengths); err != nil {
		return err
	}
	for b, n := range lengths.Host {
		if n < 0 || n > s.MaxSeq {
			return fmt.Errorf("decoding of %v: sequence %d has a length of %d: want 0 to %d", s, b, n, s.MaxSeq)
		}
	}
	return nil
}
