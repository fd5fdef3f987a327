package safetensors

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/mutate"
	"flashlab/nn/safetensors/safetensorstest"
	"flashlab/tensor"
)

// TestTypesAsTheLibraryWritesThem reads a file of Hugging Face's own library.
func TestTypesAsTheLibraryWritesThem(t *testing.T) {
	data, err := os.ReadFile("testdata/types.safetensors")
	require.NoError(t, err)
	f, err := Parse(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	for name, last := range map[string][]float32{
		"f32":  {65504, 6.1e-5, 3e-8},
		"f16":  {65504, 6.0975552e-05, 5.9604645e-08},
		"bf16": {65536, 6.1035156e-05, 3.0035153e-08},
	} {
		shape, ok := f.Shape(name)
		assert.True(t, ok)
		assert.Equal(t, []int{2, 3}, shape)
		want := append([]float32{0, 1, -2.5}, last...)
		for from := range want { // any piece of it
			x := make([]float32, len(want)-from)
			require.NoError(t, f.Read(name, from, x))
			assert.Equal(t, want[from:], x, name)
		}
		assert.ErrorContains(t, f.Read(name, 3, make([]float32, 4)), "values 3 to 7 of 6")
		assert.Error(t, f.Read(name, -1, make([]float32, 1)))
	}
	assert.ErrorContains(t, f.Read("i64", 0, make([]float32, 1)), "its type is I64: want F32, F16 or BF16")
	assert.ErrorContains(t, f.Read("none", 0, nil), `there is no "none"`)
}

// shards is a folder of two, with an index.
func shards(t testing.TB) map[string]string {
	one := func(name string, data ...float32) string {
		return string(safetensorstest.File(t, map[string]*tensor.Tensor{name: {Shape: []int{len(data)}, Data: data}}))
	}
	return map[string]string{
		"a.safetensors": one("x", 1, 2, 3),
		"b.safetensors": one("y", 4, 5),
		Index:           `{"metadata": {"total_size": 20}, "weight_map": {"x": "a.safetensors", "y": "b.safetensors"}}`,
	}
}

func folder(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, data := range files {
		m[name] = &fstest.MapFile{Data: []byte(data)}
	}
	return m
}

func TestShards(t *testing.T) {
	f, err := Open(folder(shards(t)))
	require.NoError(t, err)
	assert.Equal(t, Index, f.About())
	assert.Equal(t, []string{"x", "y"}, f.Names())
	shape, ok := f.Shape("y")
	assert.True(t, ok)
	assert.Equal(t, []int{2}, shape)
	_, ok = f.Shape("z")
	assert.False(t, ok)
	y := make([]float32, 1)
	require.NoError(t, f.Read("y", 1, y))
	assert.Equal(t, []float32{5}, y)
	assert.NoError(t, f.Close())

	_, err = Open(folder(nil))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, "neither model.safetensors nor model.safetensors.index.json is there")
}

func TestBrokenShardsAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(map[string]string)
		want   string
	}{
		"a missing shard": {func(f map[string]string) { delete(f, "b.safetensors") }, "the shard b.safetensors is missing, where model.safetensors.index.json expects y: put it into the folder"},
		"cut off":         {func(f map[string]string) { f["b.safetensors"] = f["b.safetensors"][:len(f["b.safetensors"])-1] }, `b.safetensors: "y": it is at bytes 0 to 8, and there are only 7: the file is cut off`},
		"swapped":         {func(f map[string]string) { f["b.safetensors"] = f["a.safetensors"] }, "b.safetensors has no y"},
		"outside":         {func(f map[string]string) { f[Index] = strings.Replace(f[Index], "b.safe", "../b.safe", 1) }, "want a file of the same folder"},
		"nowhere":         {func(f map[string]string) { f[Index] = strings.Replace(f[Index], "b.safetensors", "", 1) }, `y is in "": want a file of the same folder`},
		"no JSON":         {func(f map[string]string) { f[Index] = f[Index][:30] }, "model.safetensors.index.json: "},
		"no map":          {func(f map[string]string) { f[Index] = "{}" }, "its weight_map names no weight"},
	} {
		files := shards(t)
		c.change(files)
		_, err := Open(folder(files))
		assert.ErrorContains(t, err, c.want, name)
		assert.NotErrorIs(t, err, fs.ErrNotExist, name) // there are weights, only broken ones
	}
}

func FuzzSafetensors(f *testing.F) {
	f.Add(safetensorstest.File(f, map[string]*tensor.Tensor{"x": tensor.New(2, 3), "y": tensor.New(1)}))
	types, err := os.ReadFile("testdata/types.safetensors")
	require.NoError(f, err)
	f.Add(types)
	mutate.Corpus(f)
	f.Fuzz(func(_ *testing.T, data []byte) {
		s, err := Parse(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for _, name := range s.Names() {
			shape, _ := s.Shape(name)
			if n := tensor.Elements(shape); n < 1<<20 {
				_ = s.Read(name, 0, make([]float32, n)) // an error, never a panic
			}
		}
	})
}
