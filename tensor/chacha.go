package tensor

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// Key selects a sequence of numbers. Whoever knows numbers of one learns nothing of another: each is ChaCha8's.
type Key [8]uint32

// KeyOf is the key of a seed's stream.
func KeyOf(seed uint64, stream uint32) (k Key) {
	var from [12]byte
	binary.LittleEndian.PutUint64(from[:], seed)
	binary.LittleEndian.PutUint32(from[8:], stream)
	sum := sha256.Sum256(from[:])
	for i := range k {
		k[i] = binary.LittleEndian.Uint32(sum[4*i:])
	}
	return k
}

// words are what a block of ChaCha holds.
type words [16]uint32

// block is the one with this number of one of the key's sequences: the block function of ChaCha with eight rounds.
func (k *Key) block(sequence uint32, number uint64) words {
	start := words{
		0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, // "expand 32-byte k"
		k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7],
		uint32(number), uint32(number >> 32), sequence, 0,
	}
	// Sixteen variables, not an array: Go keeps most of them in registers.
	x0, x1, x2, x3, x4, x5, x6, x7 := start[0], start[1], start[2], start[3], start[4], start[5], start[6], start[7]
	x8, x9, x10, x11, x12, x13, x14, x15 := start[8], start[9], start[10], start[11], start[12], start[13], start[14], start[15]
	for range 4 {
		x0, x4, x8, x12 = quarter(x0, x4, x8, x12) // columns
		x1, x5, x9, x13 = quarter(x1, x5, x9, x13)
		x2, x6, x10, x14 = quarter(x2, x6, x10, x14)
		x3, x7, x11, x15 = quarter(x3, x7, x11, x15)
		x0, x5, x10, x15 = quarter(x0, x5, x10, x15) // diagonals
		x1, x6, x11, x12 = quarter(x1, x6, x11, x12)
		x2, x7, x8, x13 = quarter(x2, x7, x8, x13)
		x3, x4, x9, x14 = quarter(x3, x4, x9, x14)
	}
	for i, x := range (words{x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15}) {
		start[i] += x
	}
	return start
}

func quarter(a, b, c, d uint32) (uint32, uint32, uint32, uint32) {
	a += b
	d = bits.RotateLeft32(d^a, 16)
	c += d
	b = bits.RotateLeft32(b^c, 12)
	a += b
	d = bits.RotateLeft32(d^a, 8)
	c += d
	b = bits.RotateLeft32(b^c, 7)
	return a, b, c, d
}
