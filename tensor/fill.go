package tensor

import (
	"fmt"
	"math"
)

// Dist names a distribution of inputs. Every value depends only on the seed,
// the stream and its own index, by ChaCha8 and exact scaling. So Go, CUDA
// and PyTorch make the same bits, any slice can be made on its own, and nobody
// who has seen some of them can tell the others.
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
	n := numbers{key: KeyOf(seed, stream)}
	for i := range dst {
		dst[i] = n.value(d, uint64(from+i))
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

// numbers makes those of one key. Neighbours come from 32 neighbouring blocks: a warp of a GPU has a block a lane, and
// writes side by side.
type numbers struct {
	key     Key
	numbers blocks
	choices blocks // what some distributions need besides: a sequence of its own
}

// lanes of a warp.
const lanes = 32

// blocks are 32 neighbouring ones, which are kept until others are asked for.
type blocks struct {
	of   [lanes]words
	from uint64
	have bool
}

func (b *blocks) find(k *Key, sequence uint32, from uint64) *[lanes]words {
	if !b.have || b.from != from {
		for lane := range uint64(lanes) {
			b.of[lane] = k.block(sequence, from+lane)
		}
		b.have, b.from = true, from
	}
	return &b.of
}

func (n *numbers) value(d Dist, i uint64) float32 {
	switch d {
	case Uniform:
		a, _ := n.pair(i)
		return float32(int32(a)>>8) * 0x1p-23
	case Large:
		return n.normal(i) * 64
	case OneHot:
		if n.choice(i)%16 == 0 {
			return n.normal(i) + 1000
		}
	case Equal:
		return n.normal(0)
	case Masked:
		if i%64 != 0 && n.choice(i)%2 == 0 {
			return float32(math.Inf(-1))
		}
	case Uneven:
		return n.normal(i) * float32(math.Ldexp(1, int(i/256%12)-11))
	case Groups: // sizes 0 7 2 9, 4 11 6 1, 8 3 10 5
		return n.normal(i) * float32(math.Ldexp(1, int(i/128*7%12)-11))
	case Columns:
		if i%8 == 5 {
			return n.normal(i) + 16*sum(n.key.pair(i%64))
		}
	}
	return n.normal(i)
}

// normal is a sum of four uniform 16-bit numbers, centred: 18 bits, so the
// scaling by 2^-15 is exact.
func (n *numbers) normal(i uint64) float32 { return sum(n.pair(i)) }

func sum(a, b uint32) float32 {
	sum := int32(a&0xffff) + int32(a>>16) + int32(b&0xffff) + int32(b>>16)
	return float32(sum-2*65535) * 0x1p-15
}

// pair is the two words that number i is made of: a block serves 8 numbers, each 32 apart.
func (n *numbers) pair(i uint64) (a, b uint32) {
	w := &n.numbers.find(&n.key, 0, i/256*lanes)[i%lanes]
	return w[2*(i/lanes%8)], w[2*(i/lanes%8)+1]
}

// choice is a word for number i: a block serves 16.
func (n *numbers) choice(i uint64) uint32 {
	return n.choices.find(&n.key, 1, i/512*lanes)[i%lanes][i/lanes%16]
}

// pair is the same from scratch.
func (k *Key) pair(i uint64) (a, b uint32) {
	w := k.block(0, i/256*lanes+i%lanes)
	return w[2*(i/lanes%8)], w[2*(i/lanes%8)+1]
}
