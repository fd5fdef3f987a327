// Package kvcache is bonus task b7: a cache of 8 or 4 bits, written and read by decoding.
//
// README.md is the handout. You edit cache.go, append.cu and decode.cu, and tile.cuh and attend.cuh if
// you like.
package kvcache

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
)

// The kernels, as Queue.Compile takes them. This file is provided: the grader never takes a
// student's copy of it.
var (
	AppendSource = device.Source{Folder: "bonus/b7_kvcache", Name: "append.cu"}
	DecodeSource = device.Source{Folder: "bonus/b7_kvcache", Name: "decode.cu"}
)

// Group is how many tokens of INT4 are quantised together. MaxSeq is a multiple of it.
const Group = 32

// Halves is a buffer of float16.
type Halves = device.Buffer[device.Float16]

// Int8 is a cache with a scale for each token and head: a number is code · scale.
type Int8 struct {
	K, V             device.Buffer[int8] // [Batch, KVHeads, MaxSeq, Dim]
	KScales, VScales Halves              // [Batch, KVHeads, MaxSeq]
}

// Int4 is a cache as KIVI has it. A code is 0 to 15, two a byte, the first in the low half; a number is
// code · scale + low, rounded once to a half. K has a scale and a low for each channel of a group, V for
// each token. The tokens of the open group, which has fewer than Group, are halves: token p of a sequence
// is row p % Group.
type Int4 struct {
	K, V           device.Buffer[uint8] // [Batch, KVHeads, MaxSeq, Dim / 2]
	KScales, KLows Halves               // [Batch, KVHeads, MaxSeq / Group, Dim]
	VScales, VLows Halves               // [Batch, KVHeads, MaxSeq]
	KOpen, VOpen   Halves               // [Batch, KVHeads, Group, Dim]
}

// cache is either of the two.
type cache interface {
	check(s attn.CacheShape) error
}

type size struct {
	name      string
	got, want int
}

// check tells what is wrong with the sizes of the cache's buffers.
func (c Int8) check(s attn.CacheShape) error {
	all, tokens := s.Elements(), s.Batch*s.KVHeads*s.MaxSeq
	return sizes(s, size{"K", c.K.Len(), all}, size{"V", c.V.Len(), all},
		size{"KScales", c.KScales.Len(), tokens}, size{"VScales", c.VScales.Len(), tokens})
}

func (c Int4) check(s attn.CacheShape) error {
	all, heads := s.Elements(), s.Batch*s.KVHeads
	tokens, groups := heads*s.MaxSeq, heads*(s.MaxSeq/Group)*s.Dim
	return sizes(s, size{"K", c.K.Len(), all / 2}, size{"V", c.V.Len(), all / 2},
		size{"KScales", c.KScales.Len(), groups}, size{"KLows", c.KLows.Len(), groups},
		size{"VScales", c.VScales.Len(), tokens}, size{"VLows", c.VLows.Len(), tokens},
		size{"KOpen", c.KOpen.Len(), heads * Group * s.Dim}, size{"VOpen", c.VOpen.Len(), heads * Group * s.Dim})
}

// Bytes is what the cache takes of device memory.
func (c Int8) Bytes() int { return c.K.Len() + c.V.Len() + 2*(c.KScales.Len()+c.VScales.Len()) }

// Bytes is what the cache takes of device memory, with its open groups.
func (c Int4) Bytes() int {
	halves := c.KScales.Len() + c.KLows.Len() + c.VScales.Len() + c.VLows.Len() + c.KOpen.Len() + c.VOpen.Len()
	return c.K.Len() + c.V.Len() + 2*halves
}

func sizes(s attn.CacheShape, all ...size) error {
	for _, x := range all {
		if x.got != x.want {
			return fmt.Errorf("%v: %s holds %d elements, want %d", s, x.name, x.got, x.want)
		}
	}
	return nil
}

// Check tells what is wrong with a cache, and with lengths to which so many tokens are added.
func Check(c cache, s attn.CacheShape, lengths attn.PerSequence, more int) error {
	switch {
	case min(s.Batch, s.MaxSeq, s.KVHeads, s.Dim) < 1:
		return fmt.Errorf("%v: every dimension must be at least 1", s)
	case s.Dim != 64 && s.Dim != 128:
		return fmt.Errorf("%v: the head dimension is 64 or 128 here", s)
	case s.MaxSeq%Group != 0:
		return fmt.Errorf("%v: MaxSeq is a multiple of %d, so that no group crosses two sequences", s, Group)
	}
	if err := c.check(s); err != nil {
		return err
	}
	if err := s.CheckPerSequence("lengths", lengths); err != nil {
		return err
	}
	for b, n := range lengths.Host {
		if n < 0 || n+more > s.MaxSeq {
			return fmt.Errorf("%v: sequence %d has a length of %d: want 0 to %d", s, b, n, s.MaxSeq-more)
		}
	}
	return nil
}

// CheckAppend tells what is wrong with appending k and v [Batch, KVHeads, Dim] to a cache.
func CheckAppend(c cache, k, v Halves, s attn.CacheShape, lengths attn.PerSequence) error {
	if err := Check(c, s, lengths, 1); err != nil {
		return err
	}
	return sizes(s, size{"k", k.Len(), s.Batch * s.Slot()}, size{"v", v.Len(), s.Batch * s.Slot()})
}

// CheckDecode tells what is wrong with decoding q to out [Batch, Heads, Dim].
func CheckDecode(out, q Halves, c cache, s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := Check(c, s.CacheShape, lengths, 0); err != nil {
		return err
	}
	if s.Heads < 1 || s.Heads%s.KVHeads != 0 {
		return fmt.Errorf("decoding of %v: %d query heads cannot share %d key heads evenly", s, s.Heads, s.KVHeads)
	}
	n := s.Batch * s.Heads * s.Dim
	return sizes(s.CacheShape, size{"out", out.Len(), n}, size{"q", q.Len(), n})
}
