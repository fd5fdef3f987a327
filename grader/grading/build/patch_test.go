package build

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestADiffIsApplied(t *testing.T) {
	text := "a\nb\nc\nd\nb\ne\n"
	for name, c := range map[string]struct{ diff, want string }{
		"one part":           {"// Why.\n@@\n a\n-b\n+B\n+more\n c\n", "a\nB\nmore\nc\nd\nb\ne\n"},
		"two parts":          {"@@\n-a\n@@ here\n d\n-b\n+x\n", "b\nc\nd\nx\ne\n"},
		"blank lines at end": {"@@\n-e\n+f\n\n", "a\nb\nc\nd\nb\nf\n"},
	} {
		got, err := patched([]byte(text), []byte(c.diff))
		require.NoError(t, err, name)
		assert.Equal(t, c.want, string(got), name)
	}
	for name, c := range map[string]struct{ diff, says string }{
		"not there":        {"@@\n x\n-b\n", "part 1 of the diff does not fit"},
		"twice":            {"@@\n-b\n+c\n", "part 1 of the diff does not fit"},
		"in another order": {"@@\n-e\n@@\n-a\n", "part 2 of the diff does not fit"},
		"no marks":         {"@@\nb\n", `a line that begins with 'b'`},
		"nothing":          {"only words\n", "changes nothing"},
	} {
		_, err := patched([]byte(text), []byte(c.diff))
		assert.ErrorContains(t, err, c.says, name)
	}
}
