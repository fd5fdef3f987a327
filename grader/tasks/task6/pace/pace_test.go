package pace

import (
	"bytes"
	"encoding/json"
	"os"
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

// TestTokensArePyTorchs: the model, its weights, its prompts and the order of its tokens are those
// of bench/peers/llama.py, which wrote the file (--size tiny --tokens 24 --json, on a processor; no
// best logit was less than 0.04 % ahead).
func TestTokensArePyTorchs(t *testing.T) {
	text, err := os.ReadFile("testdata/pytorch.json")
	require.NoError(t, err)
	var want, got Times
	require.NoError(t, json.Unmarshal(text, &want))
	var b bytes.Buffer
	require.NoError(t, Main(&b, []string{"-size", "tiny", "-tokens", "24", "-json", "-device", "sim"}, plain))
	lines := bytes.Split(bytes.TrimSpace(b.Bytes()), []byte("\n"))
	require.NoError(t, json.Unmarshal(lines[len(lines)-1], &got))
	assert.Len(t, want.Tokens, 25)
	assert.Equal(t, want.Tokens, got.Tokens)
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
	assert.ErrorContains(t, err, "KERNELS=given measures your layer")
	assert.ErrorContains(t, Main(&b, []string{"-size", "giant"}, plain), "SIZE=giant: there are tiny, small, medium, large, full")
	assert.ErrorContains(t, Main(&b, []string{"-size", "tiny", "-tokens", "25"}, plain), "TOKENS=25: want 1 to 24")
}
