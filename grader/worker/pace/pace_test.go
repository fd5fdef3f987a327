package pace

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/nn"
)

func plain(q device.Queue) (p Parts, err error) {
	if p.Layers, err = nn.New(q); err != nil {
		return p, err
	}
	p.Kernels, err = nn.PlainKernels(q, p.Layers)
	p.Layer, p.About = nn.NewLayer, "plain parts"
	return p, err
}

func TestPace(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Main(&b, []string{"-size", "tiny", "-tokens", "4"}, plain))
	t.Log(b.String())
	assert.Contains(t, b.String(), `The model "tiny": hidden 64, heads 4 × 16, layers 2`)
	assert.Contains(t, b.String(), "with plain parts")
	assert.Contains(t, b.String(), "weights 395.8 KB")
	assert.Contains(t, b.String(), "TTFT")
	assert.NotContains(t, b.String(), "not recorded")
}

func TestWhatCannotBeMeasured(t *testing.T) {
	stub := func(q device.Queue) (Parts, error) {
		p, err := plain(q)
		p.Layer = func(device.Queue, attn.LayerShape, attn.Projections, attn.Kernels, attn.Cache) (attn.Layer, error) {
			return nil, attn.ErrNotImplemented
		}
		return p, err
	}
	var b bytes.Buffer
	err := Main(&b, []string{"-size", "tiny", "-tokens", "4"}, stub)
	assert.ErrorContains(t, err, "the attention of layer 0: not implemented")
	assert.ErrorContains(t, err, "SOLUTION=1 measures the reference")
	assert.ErrorContains(t, Main(&b, []string{"-size", "giant"}, plain), "SIZE=giant: there are tiny, small, medium, large, full")
	assert.ErrorContains(t, Main(&b, []string{"-size", "tiny", "-tokens", "25"}, plain), "TOKENS=25: want 1 to 24")
}
