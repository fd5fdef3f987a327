package npy

import (
	"bytes"
	"testing"

	"github.com/sbinet/npyio"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/mutate"
	"flashlab/tensor"
	"flashlab/tensor/npytest"
)

func TestRoundTripAndAgainstNpyio(t *testing.T) {
	x, _ := tensor.Random(tensor.Normal, 3, 0, 2, 3, 5)
	file := npytest.File(x.Data, x.Shape...)
	back, err := Read(bytes.NewReader(file), len(x.Data))
	require.NoError(t, err)
	assert.Equal(t, x, back)

	r, err := npyio.NewReader(bytes.NewReader(file))
	require.NoError(t, err)
	var data []float32
	require.NoError(t, r.Read(&data))
	assert.Equal(t, []int{2, 3, 5}, r.Header.Descr.Shape)
	assert.Equal(t, x.Data, data)
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	x := tensor.New(4)
	good := npytest.File(x.Data, x.Shape...)
	for name, bad := range map[string][]byte{
		"empty":     {},
		"text":      []byte("hello, this is no array"),
		"truncated": good[:len(good)-3],
		"huge":      bytes.Replace(good, []byte("(4,)"), []byte("(99999999999,)"), 1),
		"doubles":   bytes.Replace(good, []byte("<f4"), []byte("<f8"), 1),
		"no shape":  bytes.Replace(good, []byte("'shape': "), []byte("'shipe': "), 1),
	} {
		_, err := Read(bytes.NewReader(bad), 4)
		assert.Error(t, err, name)
	}
	_, err := Read(bytes.NewReader(good), 3)
	assert.ErrorContains(t, err, "at most 3")
}

func FuzzRead(f *testing.F) {
	good := npytest.File(make([]float32, 4), 2, 2)
	f.Add(good)
	f.Add([]byte("\x93NUMPY\x01\x00\x02\x00}\n"))
	mutate.Corpus(f)
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = Read(bytes.NewReader(data), 1<<10) // an error, never a panic
	})
}

func TestEveryType(t *testing.T) {
	x := []float32{1, -2, 3}
	for ty, file := range map[tensor.Type][]byte{ // the bytes as NumPy 2 and ml_dtypes write them
		tensor.Float16:  npytest.Raw("<f2", []byte("\x00<\x00\xc0\x00B"), 3),
		tensor.BFloat16: npytest.Raw("<V2", []byte("\x80?\x00\xc0@@"), 3),
		tensor.Int8:     npytest.Raw("|i1", []byte("\x01\xfe\x03"), 3),
		tensor.Int4:     npytest.Raw("<V1", []byte("\x01\x0e\x03"), 3),
		tensor.E8M0:     npytest.Raw("|V1", []byte{127, 126, 254}, 3),
	} {
		x := x
		if ty == tensor.E8M0 {
			x = []float32{1, 0.5, 0x1p127}
		}
		got, err := ReadOf(ty, bytes.NewReader(file), 3)
		require.NoError(t, err, ty)
		assert.Equal(t, &tensor.Tensor{Shape: []int{3}, Data: x, Type: ty}, got)
		_, err = Read(bytes.NewReader(file), 3)
		assert.ErrorContains(t, err, "want '<f4' (float32)")
		_, err = ReadOf(ty, bytes.NewReader(file[:len(file)-1]), 3)
		assert.ErrorContains(t, err, "promised")
	}
	_, err := ReadOf("int3", bytes.NewReader(nil), 3)
	assert.ErrorContains(t, err, "unknown type")
}
