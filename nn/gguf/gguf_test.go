package gguf

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/mutate"
	"flashlab/nn/gguf/gguftest"
	"flashlab/tensor"
)

func parse(data []byte) (*File, error) { return Parse(bytes.NewReader(data), int64(len(data))) }

// TestBlocks holds every type against llama.cpp's own Python package (testdata/blocks.py), bit for bit.
func TestBlocks(t *testing.T) {
	data, err := os.ReadFile("testdata/blocks.json")
	require.NoError(t, err)
	var cases []struct {
		Name   string
		Type   uint32
		Raw    string
		Values []float32
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	seen := map[uint32]bool{}
	for _, c := range cases {
		raw, err := base64.StdEncoding.DecodeString(c.Raw)
		require.NoError(t, err)
		require.Equal(t, c.Name, types[c.Type].name)
		seen[c.Type] = true
		n := len(c.Values)
		f, err := parse(gguftest.File(nil, map[string]gguftest.Weight{"x": {Shape: []int{n}, Type: c.Type, Raw: raw}}))
		require.NoError(t, err)
		got := make([]float32, n)
		require.NoError(t, f.Read("x", 0, got))
		require.Equal(t, c.Values, got, c.Name)
		for _, part := range [][2]int{{1, 2}, {n / 2, n}, {n - 1, n}, {n / 3, n - 1}} { // within blocks, and across them
			got := make([]float32, part[1]-part[0])
			require.NoError(t, f.Read("x", part[0], got))
			require.Equal(t, c.Values[part[0]:part[1]], got, "%s, %v", c.Name, part)
		}
	}
	assert.Len(t, seen, len(types), "every type has blocks")
}

func TestMoreThanAPiece(t *testing.T) {
	x := tensor.New(3, piece)
	for i := range x.Data {
		x.Data[i] = float32(i)
	}
	f, err := parse(gguftest.File(nil, map[string]gguftest.Weight{"x": gguftest.Float32(x)}))
	require.NoError(t, err)
	got := make([]float32, 2*piece+7)
	require.NoError(t, f.Read("x", 5, got))
	assert.Equal(t, x.Data[5:5+len(got)], got)
	shape, ok := f.Shape("x")
	assert.True(t, ok)
	assert.Equal(t, []int{3, piece}, shape)
}

var some = map[string]any{"a.text": "words", "a.number": uint32(7), "a.float": float32(1e-5), "a.bool": true,
	"texts": []string{"x", "", "yy"}, "numbers": []int32{-1, 2}}

func TestMetadata(t *testing.T) {
	f, err := parse(gguftest.File(some, nil))
	require.NoError(t, err)
	m := f.Metadata
	text, err := m.Text("a.text")
	require.NoError(t, err)
	assert.Equal(t, "words", text)
	number, err := m.Int("a.number", 0)
	require.NoError(t, err)
	assert.Equal(t, 7, number)
	float, err := m.Float("a.float", 0)
	require.NoError(t, err)
	assert.Equal(t, 1e-5, float)
	yes, err := m.Bool("a.bool", false)
	require.NoError(t, err)
	assert.True(t, yes)
	texts, err := m.Texts("texts")
	require.NoError(t, err)
	assert.Equal(t, []string{"x", "", "yy"}, texts)
	numbers, err := m.Ints("numbers")
	require.NoError(t, err)
	assert.Equal(t, []int64{-1, 2}, numbers)
	number, err = m.Int("not there", 5)
	require.NoError(t, err)
	assert.Equal(t, 5, number)
	_, err = m.Int("a.text", 0)
	assert.EqualError(t, err, "a.text = words: want a whole number")
}

// TestEveryPrefixIsRefused: a file may be cut short anywhere, and the error says so.
func TestEveryPrefixIsRefused(t *testing.T) {
	whole := gguftest.File(some, map[string]gguftest.Weight{"w": gguftest.Float32(tensor.New(2, 3)), "v": gguftest.Float32(tensor.New(40))})
	padding := 32 - 24 // behind w's values, the last
	for n := range len(whole) - padding {
		_, err := parse(whole[:n])
		assert.ErrorIs(t, err, ErrCutShort, n)
	}
}

func TestBrokenFilesAreNamed(t *testing.T) {
	good := gguftest.File(map[string]any{"k": uint32(1)}, map[string]gguftest.Weight{"w": gguftest.Float32(tensor.New(2, 3))})
	const ( // where things are in it
		version, tensors, entries, kind = 4, 8, 16, 24 + 8 + 1
		dimensions                      = kind + 4 + 4 + 8 + 1
		side, of                        = dimensions + 4, dimensions + 4 + 16
	)
	for want, c := range map[string]struct {
		at    int
		bytes []byte
	}{
		"it does not begin with GGUF":                   {0, []byte("PK")},
		"version 1 of GGUF: want 2 or 3":                {version, []byte{1}},
		"its numbers are big-endian":                    {version, []byte{0, 0, 0, 3}},
		"65537 weights and 1 entries":                   {tensors, []byte{1, 0, 1}},
		"1 weights and 65537 entries":                   {entries, []byte{1, 0, 1}},
		"its metadata has a value of type 77":           {kind, []byte{77}},
		`the weight "w" has 5 dimensions`:               {dimensions, []byte{5}},
		`the weight "w" has more numbers than fit`:      {side, bytes.Repeat([]byte{255}, 8)},
		"Q4_0 has blocks of 32 numbers, and its rows":   {of, []byte{2}},
		"the weight w: it ends at byte ":                {of + 4, []byte{0, 0, 1}},
		`the weight "w" is at byte 9223372036854775808`: {of + 4, []byte{0, 0, 0, 0, 0, 0, 0, 128}},
	} {
		data := slices.Clone(good)
		copy(data[c.at:], c.bytes)
		_, err := parse(data)
		assert.ErrorContains(t, err, want)
	}
	_, err := parse(gguftest.File(map[string]any{"general.alignment": uint32(0)}, nil))
	assert.ErrorContains(t, err, "general.alignment = 0")
	f, err := parse(good)
	require.NoError(t, err)
	assert.ErrorContains(t, f.Read("none", 0, nil), `there is no "none"`)
	assert.ErrorContains(t, f.Read("w", 1, make([]float32, 6)), "values 1 to 7 of 6")
}

// A list says how long it is, and gets no room before its values are there.
func TestListsThatAreNotThere(t *testing.T) {
	data := gguftest.File(map[string]any{"l": []int32{1}}, nil)
	at := bytes.Index(data, []byte{9, 0, 0, 0, 5}) + 8
	binary.LittleEndian.PutUint64(data[at:], math.MaxUint64)
	_, err := parse(data)
	assert.ErrorIs(t, err, ErrCutShort)
	data[at-4] = 9
	binary.LittleEndian.PutUint64(data[at:], 1)
	_, err = parse(data)
	assert.ErrorContains(t, err, "a list of lists")
}

func FuzzParse(f *testing.F) {
	f.Add(gguftest.File(some, map[string]gguftest.Weight{"w": gguftest.Float32(tensor.New(2, 3)), "q": {Shape: []int{1, 256}, Type: 12, Raw: make([]byte, 144)}}))
	mutate.Corpus(f)
	f.Fuzz(func(_ *testing.T, data []byte) {
		file, err := parse(data)
		if err != nil {
			return
		}
		for _, name := range file.Names() {
			shape, _ := file.Shape(name)
			if n := tensor.Elements(shape); n < 1<<20 {
				_ = file.Read(name, 0, make([]float32, n)) // an error, never a panic
			}
		}
	})
}
