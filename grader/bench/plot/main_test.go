package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const table = "•tiles\t2\t100\nprinted by a student\n•tiles\t4\t50\tword\nonce\t2\t1\nonce\t4\t1\ny\ta label\n"

func TestATableBecomesAPicture(t *testing.T) {
	for name, magic := range map[string]string{"p.png": "\x89PNG", "p.svg": "<?xml"} {
		out := filepath.Join(t.TempDir(), "new", name)
		require.NoError(t, run(strings.NewReader(table), "title", "x", "y", out, true, "left"))
		data, err := os.ReadFile(out)
		require.NoError(t, err)
		assert.True(t, bytes.HasPrefix(data, []byte(magic)), name)
	}
}

func TestBadTables(t *testing.T) {
	for text, want := range map[string]string{
		"":             "nothing to draw",
		"a\t1\t0\n":    "two positive numbers",
		"a\tone\t2\n":  "two positive numbers",
		"no tabs here": "nothing to draw",
	} {
		assert.ErrorContains(t, run(strings.NewReader(text), "", "", "", filepath.Join(t.TempDir(), "p.png"), false, ""), want)
	}
	assert.Error(t, run(strings.NewReader(table), "", "", "", filepath.Join(t.TempDir(), "p.doc"), false, ""))
}

func TestTicks(t *testing.T) {
	labels := func(low, high float64) (all []string) {
		for _, tick := range (powers{2}).Ticks(low, high) {
			all = append(all, tick.Label)
		}
		return all
	}
	assert.Equal(t, []string{"2", "4", "8", "16"}, labels(2, 16))
	assert.Equal(t, []string{"2.1", "2.2", "2.3"}, labels(2.03, 2.38))
	assert.Equal(t, []string{"0.1", "0.2", "0.3", "0.4"}, labels(0.081, 0.45))
	assert.Equal(t, []string{"2", "4", "6", "8"}, labels(1.4, 9.3))
}

func TestBars(t *testing.T) {
	draw := func(text string) error {
		return draws(strings.NewReader(text), "", "", "", filepath.Join(t.TempDir(), "p.svg"), false, true, "")
	}
	assert.NoError(t, draw("SDPA\t2\t1.9\t2.2\tone\ncuBLAS\t3\t3\t3\tone\nSDPA\t0.5\t0.4\t0.6\ttwo\n"))
	assert.ErrorContains(t, draw("nothing"), "nothing to draw")
	assert.ErrorContains(t, draw("SDPA\t2\t0\t2.2\tone\n"), "three positive numbers")
}
