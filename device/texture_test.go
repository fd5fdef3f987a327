package device

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ofKind is a queue that only says what it is.
type ofKind struct {
	Queue
	kind Kind
}

func (q ofKind) Info() Info { return Info{Kind: q.kind} }

func TestTexturesAreTheSimulatorsAlone(t *testing.T) {
	_, err := NewTexture(ofKind{kind: CUDA}, floats("x", 0x1000, 4), Texels{Width: 4})
	assert.EqualError(t, err, `a texture of "x": textures are the simulator's alone so far; on a GPU read the buffer itself`)
}

func TestTexturesAreArguments(t *testing.T) {
	made := Texture{Buffer[uint64]{Memory{0x2000, 64, "x's texture"}}}
	values, err := LayOut(params("unsigned long long t"), []any{made})
	require.NoError(t, err)
	assert.Equal(t, []Value{{Size: 8, Bits: 0x2000}}, values)
	for list, says := range map[string]string{
		"float *x": "got a Texture, want a Buffer of float",
		"int n":    "got a Texture, want an integer",
	} {
		_, err := LayOut(params(list), []any{made})
		assert.ErrorContains(t, err, says)
	}
	_, err = LayOut(params("unsigned long long t"), []any{Texture{}})
	assert.ErrorContains(t, err, "the texture was never made: see NewTexture")
}

// As device/sim/runtime/texture.h reads it.
func TestATextureIsEightWords(t *testing.T) {
	words := Texels{Width: 5, Height: 3, Layers: 2, Numbers: 4, Linear: true, Fractions: true, Outside: Border}.words(0x1000, 2, signedTexels)
	assert.Equal(t, []uint64{textureMark, 0x1000, 5 | 3<<32, 2 | 2<<32, 2 | 4<<8 | 1<<16 | 3<<24 | 1<<40 | 1<<48 | 1<<56, 0, 0, 0}, words)
}
