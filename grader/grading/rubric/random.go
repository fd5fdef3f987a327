package rubric

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"flashlab/tensor"
)

// Random says how a check's further hidden cases are drawn from the class's seed, so that next year's
// class meets others:
//
//	hidden = { random = 2, shape = [[1, 3], [5, 200]], dist = ["normal", "large"], weight = 0.5 }
//
// How many there are, and what they weigh, is the rubric's: points are the same for every class.
type Random struct {
	Random int           // how many
	Shape  [][]int       // of each number of the shape, the smallest and the largest
	Times  [][]int       // [1, 2]: number 1 of the shape is multiplied by number 2: so many query heads for each key head
	Filled int           // 3: each sequence fills 1 to shape[3] slots; 0 where there are no slots
	Dist   []tensor.Dist // one of these
	Causal bool
	Weight float64 // of each; 0 counts as 1
}

// Draw puts cases drawn from a seed in place of those that were drawn before.
func (t *Task) Draw(seed string) {
	for i := range t.Checks {
		c := &t.Checks[i]
		c.Cases = slices.DeleteFunc(slices.Clone(c.Cases), func(k Case) bool { return k.Drawn })
		if c.Random == nil {
			continue
		}
		for n := range c.Random.Random {
			d := &dice{key: strings.Join([]string{"hidden cases", seed, t.Dir, c.ID, fmt.Sprint(n)}, "\x00")}
			c.Cases = append(c.Cases, c.Random.one(n+1, d))
		}
	}
}

func (r *Random) one(n int, d *dice) Case {
	k := Case{Drawn: true, Hidden: true, Causal: r.Causal, Weight: cmp.Or(r.Weight, 1)}
	for _, span := range r.Shape {
		k.Shape = append(k.Shape, d.from(span[0], span[1]))
	}
	for _, pair := range r.Times {
		k.Shape[pair[0]] *= k.Shape[pair[1]]
	}
	if r.Filled > 0 {
		for range k.Shape[0] {
			k.Each = append(k.Each, d.from(1, k.Shape[r.Filled]))
		}
	}
	k.Dist = r.Dist[d.from(0, len(r.Dist)-1)]
	words := []string{fmt.Sprintf("drawn%d", n), strings.Trim(strings.ReplaceAll(fmt.Sprint(k.Shape), " ", "x"), "[]"), string(k.Dist)}
	if k.Causal {
		words = append(words, "causal")
	}
	k.Name = strings.Join(words, "-")
	return k
}

func (r *Random) validate() error {
	if r == nil {
		return nil
	}
	inside := func(i int) bool { return i >= 0 && i < len(r.Shape) }
	switch {
	case r.Random < 1 || len(r.Shape) == 0 || len(r.Dist) == 0:
		return fmt.Errorf("hidden: want random = how many cases, a shape of [smallest, largest] pairs, and a list of dists")
	case r.Weight < 0 || math.IsNaN(r.Weight) || math.IsInf(r.Weight, 0):
		return fmt.Errorf("hidden: weight = %v: want a positive number", r.Weight)
	case r.Filled < 0 || r.Filled > 0 && !inside(r.Filled):
		return fmt.Errorf("hidden: filled = %d: want which number of the shape is the slots, counted from 0", r.Filled)
	}
	for _, span := range r.Shape {
		if len(span) != 2 || span[0] < 1 || span[1] < span[0] {
			return fmt.Errorf("hidden: shape has %v: want [smallest, largest], from 1 on", span)
		}
	}
	for _, pair := range r.Times {
		if len(pair) != 2 || !inside(pair[0]) || !inside(pair[1]) || pair[0] == pair[1] {
			return fmt.Errorf("hidden: times has %v: want two numbers of the shape, counted from 0", pair)
		}
	}
	return nil
}

// dice throws the same numbers for the same key, whatever the version of Go.
type dice struct {
	key string
	n   uint64
}

// from throws a number from low to high.
func (d *dice) from(low, high int) int {
	d.n++
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte(d.key), d.n))
	return low + int(binary.LittleEndian.Uint64(sum[:])%uint64(high-low+1))
}
