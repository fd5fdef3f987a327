package gate

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestReservedNamesAreFoundAsTheExpressionFindsThem, in texts put together at random.
func TestReservedNamesAreFoundAsTheExpressionFindsThem(t *testing.T) {
	pieces := strings.Fields("simt simt_ SIMT_ _ __ tsan_ ubsan asan sanitizer_ __wrap_ real cxa_ _dl_ _ZTH _init _fini a 7 x_ é ; - ( ) $ \\")
	pieces = append(pieces, " ", "\n", "")
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 20_000 {
		var text strings.Builder
		for range random.IntN(9) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		want := reserved.FindString(text.String())
		if want != "" {
			found++
		}
		assert.Equal(t, want, reservedIn(text.String()), text.String())
	}
	assert.Greater(t, found, 2000)
}
