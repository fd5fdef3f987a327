package tensor

import (
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The first block of ChaCha8 for a key of zeros is published: test case 1 of draft-strombergson-chacha-test-vectors.
func TestBlocksAreChaCha8s(t *testing.T) {
	var zeros Key
	var have []byte
	for _, w := range zeros.block(0, 0) {
		have = binary.LittleEndian.AppendUint32(have, w)
	}
	assert.Equal(t, "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"+
		"984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42", hex.EncodeToString(have))
	assert.NotEqual(t, zeros.block(0, 0), zeros.block(0, 1<<32))
	assert.NotEqual(t, zeros.block(0, 0), zeros.block(1, 0))
}

// Neighbours that are kept and numbers from scratch are the same, and no two numbers share words.
func TestEachNumberHasWordsOfItsOwn(t *testing.T) {
	key := KeyOf(1, 2)
	n := numbers{key: key}
	seen := map[uint64]uint64{}
	for i := range uint64(2000) {
		a, b := n.pair(i)
		c, d := key.pair(i)
		require.Equal(t, [2]uint32{a, b}, [2]uint32{c, d})
		before, twice := seen[uint64(a)<<32|uint64(b)]
		require.False(t, twice, "%d and %d", before, i)
		seen[uint64(a)<<32|uint64(b)] = i
	}
}
