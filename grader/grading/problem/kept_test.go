package problem

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/tensor"
)

func TestWhichNumberChanged(t *testing.T) {
	for _, ty := range tensor.Types {
		x := Tensor{Name: "x", Shape: []int{3, 2, 4}, Type: ty}
		values := []float32{1, 2, 0, 1, 2, 1, 2, 4}
		assert.Empty(t, x.Changed(ty.Encode(values), ty.Encode(values), 16))
		for at, want := range []string{"[2, 0, 0]", "[2, 0, 1]", "[2, 0, 2]", "[2, 0, 3]", "[2, 1, 0]", "[2, 1, 1]", "[2, 1, 2]", "[2, 1, 3]"} {
			held := slices.Clone(values)
			held[at], held[7] = 8, 8
			if ty == tensor.Int4 {
				held[at], held[7] = 7, 7
			}
			assert.Equal(t, "x, first at "+want, x.Changed(ty.Encode(held), ty.Encode(values), 16), "%v", ty)
		}
	}
	x := Tensor{Name: "x", Shape: []int{1}}
	f := tensor.Float32
	assert.NotEmpty(t, x.Changed(f.Encode([]float32{float32(math.Copysign(0, -1))}), f.Encode([]float32{0}), 0), "−0 is another number")
	nan := []float32{float32(math.NaN())}
	assert.Empty(t, x.Changed(f.Encode(nan), f.Encode(nan), 0))
}

func TestInputsThatMayChange(t *testing.T) {
	c := Problem{Inputs: []Tensor{{Name: "q"}, {Name: "cache.k"}, {Name: "scratch", Changes: true}}, Outputs: []Tensor{{Name: "out"}, {Name: "cache.k"}}}
	assert.False(t, c.MayChange(0))
	assert.True(t, c.MayChange(1))
	assert.True(t, c.MayChange(2))
}
