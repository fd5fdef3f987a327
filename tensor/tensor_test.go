package tensor

import (
	"bytes"
	"math"
	"testing"

	"github.com/sbinet/npyio"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/tensor/npytest"
)

func TestFillDoesNotDependOnWhereItStarts(t *testing.T) {
	for _, d := range Dists {
		whole, err := Random(d, 7, 1, 1000)
		require.NoError(t, err)
		part := make([]float32, 100)
		require.NoError(t, Fill(part, d, 7, 1, 450))
		assert.Equal(t, whole.Data[450:550], part, string(d))
	}
}

func TestFillHasTheMomentsItPromises(t *testing.T) {
	x, err := Random(Normal, 42, 0, 1<<16)
	require.NoError(t, err)
	var sum, square float64
	for _, v := range x.Data {
		sum += float64(v)
		square += float64(v) * float64(v)
	}
	n := float64(len(x.Data))
	assert.InDelta(t, 0, sum/n, 0.02)
	assert.InDelta(t, 2/math.Sqrt(3), math.Sqrt(square/n), 0.02)
}

func TestSeedsAndStreamsDiffer(t *testing.T) {
	a, _ := Random(Normal, 1, 0, 64)
	b, _ := Random(Normal, 2, 0, 64)
	c, _ := Random(Normal, 1, 1, 64)
	assert.NotEqual(t, a.Data, b.Data)
	assert.NotEqual(t, a.Data, c.Data)
}

func TestFillRefusesAnUnknownDistribution(t *testing.T) {
	assert.ErrorContains(t, Fill(make([]float32, 1), "gauss", 1, 0, 0), "gauss")
}

func TestCompareNeverLetsNaNPass(t *testing.T) {
	d := Compare([]float32{1, float32(math.NaN()), 3}, []float64{1, 2, 3})
	assert.False(t, d.Within(math.Inf(1)))
	assert.Equal(t, 1, d.Worst)
	d = Compare([]float32{1, float32(math.Inf(1)), 3}, []float64{1, 2, 3})
	assert.False(t, d.Within(math.Inf(1)))
}

func TestNPYRoundTripAndAgainstNpyio(t *testing.T) {
	x, _ := Random(Normal, 3, 0, 2, 3, 5)
	file := npytest.File(x.Data, x.Shape...)
	back, err := ReadNPY(bytes.NewReader(file), len(x.Data))
	require.NoError(t, err)
	assert.Equal(t, x, back)

	r, err := npyio.NewReader(bytes.NewReader(file))
	require.NoError(t, err)
	var data []float32
	require.NoError(t, r.Read(&data))
	assert.Equal(t, []int{2, 3, 5}, r.Header.Descr.Shape)
	assert.Equal(t, x.Data, data)
}

func TestNPYRefusesWhatIsNotOne(t *testing.T) {
	x := New(4)
	good := npytest.File(x.Data, x.Shape...)
	for name, bad := range map[string][]byte{
		"empty":     {},
		"text":      []byte("hello, this is no array"),
		"truncated": good[:len(good)-3],
		"huge":      bytes.Replace(good, []byte("(4,)"), []byte("(99999999999,)"), 1),
		"doubles":   bytes.Replace(good, []byte("<f4"), []byte("<f8"), 1),
		"no shape":  bytes.Replace(good, []byte("'shape': "), []byte("'shipe': "), 1),
	} {
		_, err := ReadNPY(bytes.NewReader(bad), 4)
		assert.Error(t, err, name)
	}
	_, err := ReadNPY(bytes.NewReader(good), 3)
	assert.ErrorContains(t, err, "at most 3")
}

func FuzzReadNPY(f *testing.F) {
	good := npytest.File(make([]float32, 4), 2, 2)
	f.Add(good)
	f.Add([]byte("\x93NUMPY\x01\x00\x02\x00}\n"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = ReadNPY(bytes.NewReader(data), 1<<10) // an error, never a panic
	})
}
