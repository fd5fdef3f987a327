package mutate

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKeptInputsAreRead(t *testing.T) {
	dir := t.TempDir()
	_, err := kept(dir)
	assert.ErrorContains(t, err, "no inputs are kept there")
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	put("a", "go test fuzz v1\n[]byte(\"x\\xff(\")\nstring(\"y)\")\n")
	inputs, err := kept(dir)
	require.NoError(t, err)
	assert.Equal(t, [][]any{{[]byte("x\xff("), "y)"}}, inputs)
	put("b", "go test fuzz v1\nint(3)\n")
	_, err = kept(dir)
	assert.ErrorContains(t, err, "is no []byte or string")
}

func TestSettings(t *testing.T) {
	count, seed, err := parse("20,7")
	require.NoError(t, err)
	assert.Equal(t, []uint64{20, 7}, []uint64{uint64(count), seed})
	_, _, err = parse("20")
	assert.NoError(t, err)
	for _, wrong := range []string{"x", "3,", "3,x"} {
		_, _, err = parse(wrong)
		assert.ErrorContains(t, err, "want COUNT or COUNT,SEED", wrong)
	}
}

func TestASeedRepeatsItsChanges(t *testing.T) {
	run := func(seed uint64) (all []string) {
		r := rand.New(rand.NewPCG(seed, 0))
		for range 500 {
			all = append(all, string(change(r, []byte("header: body"), []byte("other"))))
		}
		return all
	}
	assert.Equal(t, run(1), run(1))
	different := map[string]bool{}
	for _, s := range run(1) {
		different[s] = true
	}
	assert.Greater(t, len(different), 400)
	assert.NotPanics(t, func() { change(rand.New(rand.NewPCG(1, 1)), nil, nil) })
}
