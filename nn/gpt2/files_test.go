package gpt2

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/mutate"
	"flashlab/nn/safetensors"
	"flashlab/nn/safetensors/safetensorstest"
	"flashlab/tensor"
	"flashlab/tensor/npytest"
)

// configJSON is how Hugging Face writes the config, defaults left out.
func configJSON(c Config) string {
	return fmt.Sprintf(`{"model_type": "gpt2", "activation_function": "gelu_new", "n_embd": %d, "n_head": %d, "n_layer": %d,
		"n_positions": %d, "vocab_size": %d, "n_inner": %d, "layer_norm_epsilon": %g, "n_ctx": 5}`,
		c.Width, c.Heads, c.Layers, c.Positions, c.Vocabulary, c.Inner, c.Epsilon)
}

// stored are a random model's weights as files hold them.
func stored(t testing.TB, c Config) map[string]*tensor.Tensor {
	w, err := Random(c, 7)
	require.NoError(t, err)
	all := map[string]*tensor.Tensor{}
	for _, one := range c.Tensors() {
		x, err := w.Read(one)
		require.NoError(t, err)
		if one.Stored {
			x = transposed(x, one.Shape[0], one.Shape[1])
		}
		all[one.Name] = &tensor.Tensor{Shape: one.InFile(), Data: x}
	}
	return all
}

// written is a .safetensors file.
func written(t testing.TB, prefix string, all map[string]*tensor.Tensor) []byte {
	named := map[string]*tensor.Tensor{}
	for name, x := range all {
		named[prefix+name] = x
	}
	return safetensorstest.File(t, named)
}

func joined(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func folder(files map[string][]byte) fstest.MapFS {
	m := fstest.MapFS{}
	for name, data := range files {
		m[name] = &fstest.MapFile{Data: data}
	}
	return m
}

// agreeOn checks that what was opened is the random model.
func agreeOn(t *testing.T, f *Files, c Config) {
	assert.Equal(t, c, f.Config())
	w, err := Random(c, 7)
	require.NoError(t, err)
	for _, one := range c.Tensors() {
		want, err := w.Read(one)
		require.NoError(t, err)
		got, err := f.Read(one)
		require.NoError(t, err)
		require.Equal(t, want, got, one.Name)
	}
	assert.NoError(t, f.Close())
}

func TestSafetensorsModels(t *testing.T) {
	for _, prefix := range []string{"", "transformer."} {
		f, err := Open(folder(map[string][]byte{configFile: []byte(configJSON(small)), safetensors.Single: written(t, prefix, stored(t, small))}))
		require.NoError(t, err)
		agreeOn(t, f, small)
	}
}

// exportedFiles is a folder as export_gpt2.py writes it.
func exportedFiles(t testing.TB, kind string, all map[string]*tensor.Tensor, more string) map[string][]byte {
	shapes := map[string][]int{}
	files := map[string][]byte{}
	for name, x := range all {
		files[name+".npy"], shapes[name] = npytest.File(x.Data, x.Shape...), x.Shape
	}
	text, err := json.Marshal(shapes)
	require.NoError(t, err)
	files[metadataFile] = []byte(fmt.Sprintf(`{"kind": %q, "tensors": %s%s}`, kind, text, more))
	return files
}

func TestExportedModels(t *testing.T) {
	files := exportedFiles(t, "model", stored(t, small), `, "config": `+configJSON(small))
	f, err := Open(folder(files))
	require.NoError(t, err)
	agreeOn(t, f, small)

	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, data := range files {
		if name != metadataFile {
			w, err := z.Create(name)
			require.NoError(t, err)
			_, err = w.Write(data)
			require.NoError(t, err)
		}
	}
	require.NoError(t, z.Close())
	metadata := strings.Replace(string(files[metadataFile]), "{", `{"archive": "weights.npz", `, 1)
	f, err = Open(folder(map[string][]byte{metadataFile: []byte(metadata), "weights.npz": archive.Bytes()}))
	require.NoError(t, err)
	agreeOn(t, f, small)
}

func TestExportedHeads(t *testing.T) {
	all := map[string]*tensor.Tensor{}
	for name, shape := range map[string][]int{"wq": {6, 2}, "wk": {6, 2}, "wv": {6, 2}, "bq": {2}, "bk": {2}, "bv": {2}, "x": {3, 6}, "y": {3, 2}} {
		all[name] = tensor.New(shape...)
	}
	all["wk"].Data[3] = 5
	h, err := OpenHead(folder(exportedFiles(t, "head", all, `, "layer": 3, "head": 1`)))
	require.NoError(t, err)
	assert.Equal(t, 3, h.Layer)
	assert.Equal(t, 1, h.Head)
	assert.Equal(t, all["wk"], h.WK)

	all["bk"] = tensor.New(3)
	_, err = OpenHead(folder(exportedFiles(t, "head", all, "")))
	assert.ErrorContains(t, err, "bk is [3], want [2]")
	delete(all, "bk")
	_, err = OpenHead(folder(exportedFiles(t, "head", all, "")))
	assert.ErrorContains(t, err, "bk is missing")
	_, err = OpenHead(folder(exportedFiles(t, "model", all, "")))
	assert.ErrorContains(t, err, `kind = "model", want "head"`)
}

func TestBrokenModelsAreNamed(t *testing.T) {
	config, good := configJSON(small), stored(t, small)
	file := written(t, "", good)
	changed := func(change func(map[string]*tensor.Tensor)) []byte {
		all := stored(t, small)
		change(all)
		return written(t, "", all)
	}
	header := func(old, new string) []byte {
		n := binary.LittleEndian.Uint64(file)
		text := strings.Replace(string(file[8:8+n]), old, new, 1)
		return joined(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), []byte(text), file[8+n:])
	}
	npy := exportedFiles(t, "model", good, `, "config": `+config)
	npyBut := func(name string, data []byte) map[string][]byte {
		files := map[string][]byte{}
		for k, v := range npy {
			files[k] = v
		}
		files[name] = data
		return files
	}
	both := func(config string, weights []byte) map[string][]byte {
		return map[string][]byte{configFile: []byte(config), safetensors.Single: weights}
	}
	for name, c := range map[string]struct {
		files map[string][]byte
		want  string
	}{
		"nothing":          {nil, "neither config.json with model.safetensors"},
		"config cut off":   {both(config[:40], file), "config.json: "},
		"no such heads":    {both(strings.Replace(config, `"n_head": 3`, `"n_head": 4`, 1), file), "n_embd = 51 in n_head = 4 heads"},
		"no layers":        {both(strings.Replace(config, `"n_layer": 2`, `"n_layer": 0`, 1), file), "n_layer = 0"},
		"absurd":           {both(strings.Replace(config, `"n_embd": 51`, `"n_embd": 51000000000`, 1), file), "n_embd"},
		"another model":    {both(strings.Replace(config, `"gpt2"`, `"opt"`, 1), file), `model_type = "opt": want "gpt2"`},
		"a Llama":          {both(`{"model_type": "llama", "hidden_size": 32}`, file), "a Llama talks by make chat MODEL=…"},
		"another GELU":     {both(strings.Replace(config, `"gelu_new"`, `"relu"`, 1), file), `activation_function = "relu"`},
		"untied":           {both(strings.Replace(config, `{`, `{"tie_word_embeddings": false, `, 1), file), "tie_word_embeddings = false"},
		"no weights":       {map[string][]byte{configFile: []byte(config)}, "model.safetensors is missing"},
		"torch's":          {map[string][]byte{configFile: []byte(config), torchFile: nil}, "export_gpt2.py turns it into"},
		"empty":            {both(config, nil), "it has 0 bytes: cut off"},
		"header cut off":   {both(config, file[:100]), "cut off: the header has"},
		"data cut off":     {both(config, file[:len(file)-1]), "the file is cut off"},
		"text":             {both(config, []byte("<html>404 not found</html>")), "this is no .safetensors file"},
		"broken header":    {both(config, header(`"dtype"`, `"dtype`)), "header is corrupt"},
		"offsets reversed": {both(config, header(`"data_offsets":[0,`, `"data_offsets":[900,`)), "corrupt"},
		"offsets negative": {both(config, header(`"data_offsets":[0,`, `"data_offsets":[-8,`)), "corrupt"},
		"no offsets":       {both(config, header(`"data_offsets"`, `"offsets"`)), "no data_offsets"},
		"wrong length":     {both(config, header(`"dtype":"F32"`, `"dtype":"F16"`)), "needs"},
		"integers":         {both(config, header(`"dtype":"F32"`, `"dtype":"I32"`)), "its type is I32"},
		"missing weight":   {both(config, changed(func(a map[string]*tensor.Tensor) { delete(a, "h.1.mlp.c_fc.bias") })), "the weight h.1.mlp.c_fc.bias is missing"},
		"no transpose": {both(config, changed(func(a map[string]*tensor.Tensor) { a["h.0.attn.c_attn.weight"].Shape = []int{153, 51} })),
			"the weight h.0.attn.c_attn.weight is [153, 51]; the config asks for [51, 153]"},
		"NaN":             {both(config, changed(func(a map[string]*tensor.Tensor) { a["wpe.weight"].Data[7] = float32(math.NaN()) })), "the weight wpe.weight is corrupt: value 7 is NaN"},
		"npy missing":     {npyBut("ln_f.bias.npy", []byte("no array")), "ln_f.bias: npy"},
		"npy cut off":     {npyBut("wte.weight.npy", npy["wte.weight.npy"][:500]), "wte.weight: npy"},
		"npy too long":    {npyBut("wte.weight.npy", append(append([]byte{}, npy["wte.weight.npy"]...), 0)), "goes on behind its data"},
		"npy of another":  {npyBut("ln_f.bias.npy", npy["h.0.mlp.c_fc.bias.npy"]), "npy: shape [203]: want at most 51 elements"},
		"metadata cut":    {npyBut(metadataFile, npy[metadataFile][:50]), "metadata.json: "},
		"strange archive": {npyBut(metadataFile, bytes.Replace(npy[metadataFile], []byte("{"), []byte(`{"archive": "../x.npz", `), 1)), "want a file of the same folder"},
		"no archive":      {npyBut(metadataFile, bytes.Replace(npy[metadataFile], []byte("{"), []byte(`{"archive": "x.npz", `), 1)), "x.npz"},
	} {
		f, err := Open(folder(c.files))
		for _, one := range small.Tensors() {
			if err == nil {
				_, err = f.Read(one)
			}
		}
		assert.ErrorContains(t, err, c.want, name)
	}
	_, err := Open(folder(map[string][]byte{configFile: []byte(config)}))
	assert.ErrorIs(t, err, ErrNoWeights)
	_, err = Open(folder(nil))
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func FuzzConfigAndMetadata(f *testing.F) {
	f.Add([]byte(configJSON(small)))
	f.Add([]byte(`{"kind": "model", "config": {}, "tensors": {"x": [1, 2]}}`))
	mutate.Corpus(f)
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = ParseConfig(data)
		_, _ = Open(folder(map[string][]byte{metadataFile: data}))
		_, _ = OpenHead(folder(map[string][]byte{metadataFile: data}))
	})
}
