package tensor

import (
	"fmt"
	"math"
)

// Dist names a distribution of inputs. Every value depends only on the seed,
// the stream and its own index, by integer hashing and exact scaling. So Go, CUDA
// and PyTorch make the same bits, and any slice can be made on its own.
type Dist string

// The distributions.
const (
	Normal  Dist = "normal"  // bell-shaped, mean 0, standard deviation 1.15, |x| < 4
	Uniform Dist = "uniform" // [-1, 1)
	Large   Dist = "large"   // Normal × 64: exp overflows unless the maximum is subtracted
	OneHot  Dist = "onehot"  // Normal, but one element in 16 or so is larger by 1000: rows that are all but one-hot
	Equal   Dist = "equal"   // the same value everywhere
	Masked  Dist = "masked"  // Normal, but about half are -Inf, never the first of 64
	Uneven  Dist = "uneven"  // Normal, but small to begin with: every 256 elements are twice as large as those before, twelve times over, and then it starts again
	Columns Dist = "columns" // Normal, but one column of 8 has a mean of its own, by 64 columns: in the tens
	Groups  Dist = "groups"  // as Uneven, every 128 elements; but of any 512 that begin at a multiple, some are small and some large
)

// Dists lists them all.
var Dists = []Dist{Normal, Uniform, Large, OneHot, Equal, Masked, Uneven, Columns, Groups}

// Known tells whether a distribution exists.
func (d Dist) Known() bool {
	for _, known := range Dists {
		if d == known {
			return true
		}
	}
	return false
}

// Fill writes elements [from, from+len(dst)) of the endless sequence that seed
// and stream select. Different tensors of one case use different streams.
func Fill(dst []float32, d Dist, seed uint64, stream uint32, from int) error {
	if !d.Known() {
		return fmt.Errorf("tensor: unknown distribution %q", d)
	}
	key := streamKey(seed, stream)
	for i := range dst {
		dst[i] = value(d, key, uint64(from+i))
	}
	return nil
}

// FillAs writes the same sequence as a type has it: times its Unit, and rounded.
func FillAs(t Type, dst []float32, d Dist, seed uint64, stream uint32, from int) error {
	if err := t.Check(); err != nil {
		return err
	}
	if err := Fill(dst, d, seed, stream, from); err != nil {
		return err
	}
	if unit := t.Unit(); unit != 1 {
		for i := range dst {
			dst[i] *= unit
		}
	}
	t.Round(dst)
	return nil
}

// RandomAs makes a filled tensor of a type.
func RandomAs(t Type, d Dist, seed uint64, stream uint32, shape ...int) (*Tensor, error) {
	x := New(shape...)
	x.Type = t
	return x, FillAs(t, x.Data, d, seed, stream, 0)
}

// Random makes a filled tensor.
func Random(d Dist, seed uint64, stream uint32, shape ...int) (*Tensor, error) {
	t := New(shape...)
	return t, Fill(t.Data, d, seed, stream, 0)
}

func value(d Dist, key [2]uint32, i uint64) float32 {
	switch d {
	case Uniform:
		return float32(int32(hash(key, i, 0))>>8) * 0x1p-23
	case Large:
		return normal(key, i) * 64
	case OneHot:
		if hash(key, i, 2)%16 == 0 {
			return normal(key, i) + 1000
		}
	case Equal:
		return normal(key, 0)
	case Masked:
		if i%64 != 0 && hash(key, i, 2)%2 == 0 {
			return float32(math.Inf(-1))
		}
	case Uneven:
		return normal(key, i) * float32(math.Ldexp(1, int(i/256%12)-11))
	case Groups: // sizes 0 7 2 9, 4 11 6 1, 8 3 10 5
		return normal(key, i) * float32(math.Ldexp(1, int(i/128*7%12)-11))
	case Columns:
		if i%8 == 5 {
			return normal(key, i) + 16*normal(key, i%64)
		}
	}
	return normal(key, i)
}

// normal is a sum of four uniform 16-bit numbers, centred: 18 bits, so the
// scaling by 2^-15 is exact.
func normal(key [2]uint32, i uint64) float32 {
	a, b := hash(key, i, 0), hash(key, i, 1)
	sum := int32(a&0xffff) + int32(a>>16) + int32(b&0xffff) + int32(b>>16)
	return float32(sum-2*65535) * 0x1p-15
}

// hash mixes an index with the key; lane tells several numbers of one index
// apart.
func hash(key [2]uint32, i uint64, lane uint32) uint32 {
	h := mix(uint32(i) ^ key[0])
	return mix(h + uint32(i>>32)*0x9e3779b9 + lane*0x85ebca6b ^ key[1])
}

func streamKey(seed uint64, stream uint32) [2]uint32 {
	a := mix(uint32(seed) + 0x9e3779b9*(stream+1))
	return [2]uint32{a, mix(uint32(seed>>32) ^ a)}
}

// mix is a 32-bit bijection whose output bits each depend on all input bits
// (the constants of Chris Wellons' hash prospector).
func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	x ^= x >> 16
	return x
}
