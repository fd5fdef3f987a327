package gguftest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"flashlab/tensor"
)

// Shape is a Llama's.
type Shape struct {
	Width, Heads, KVHeads, Dim, Layers, Inner, Positions int
	Rotary, Epsilon                                      float64
}

// places are llama.cpp's names for Hugging Face's.
var places = strings.NewReplacer("model.embed_tokens", "token_embd", "model.norm", "output_norm", "lm_head", "output", "model.layers.", "blk.",
	"input_layernorm", "attn_norm", "post_attention_layernorm", "ffn_norm", "self_attn.q_proj", "attn_q", "self_attn.k_proj", "attn_k",
	"self_attn.v_proj", "attn_v", "self_attn.o_proj", "attn_output", "mlp.gate_proj", "ffn_gate", "mlp.up_proj", "ffn_up", "mlp.down_proj", "ffn_down")

var turned = regexp.MustCompile(`\.attn_[qk]\.`)

// Llama is a model as llama.cpp's converter writes it, of tensors that Hugging Face has.
func Llama(s Shape, tensors map[string]*tensor.Tensor) (map[string]any, map[string]Weight) {
	metadata := map[string]any{
		"general.architecture": "llama", "llama.embedding_length": uint32(s.Width), "llama.block_count": uint32(s.Layers),
		"llama.feed_forward_length": uint32(s.Inner), "llama.attention.head_count": uint32(s.Heads),
		"llama.attention.head_count_kv": uint32(s.KVHeads), "llama.attention.key_length": uint32(s.Dim),
		"llama.attention.value_length": uint32(s.Dim), "llama.rope.dimension_count": uint32(s.Dim),
		"llama.context_length": uint32(s.Positions), "llama.rope.freq_base": float32(s.Rotary),
		"llama.attention.layer_norm_rms_epsilon": float32(s.Epsilon), "tokenizer.ggml.pre": "smollm",
	}
	weights := map[string]Weight{}
	for name, x := range tensors {
		name = places.Replace(name)
		if turned.MatchString(name) {
			x = &tensor.Tensor{Shape: x.Shape, Data: converted(x.Data, x.Shape[0], s.Dim)}
		}
		weights[name] = Float32(x)
	}
	return metadata, weights
}

// converted is what convert_hf_to_gguf.py makes of rows: reshape(heads, 2, dim/2, …), with the two in the middle swapped.
func converted(x []float32, rows, dim int) (y []float32) {
	width := len(x) / rows
	for head := range rows / dim {
		for pair := range dim / 2 {
			for half := range 2 {
				row := head*dim + half*dim/2 + pair
				y = append(y, x[row*width:(row+1)*width]...)
			}
		}
	}
	return y
}

// Vocabulary adds the tokens of a tokenizer.json to metadata.
func Vocabulary(t testing.TB, metadata map[string]any, file []byte) {
	t.Helper()
	var from struct {
		Model struct {
			Vocab  map[string]int
			Merges [][2]string
		}
		Added []struct {
			ID      int
			Content string
		} `json:"added_tokens"`
	}
	if err := json.Unmarshal(file, &from); err != nil {
		t.Fatal(err)
	}
	for _, a := range from.Added {
		from.Model.Vocab[a.Content] = a.ID
	}
	tokens, kinds := make([]string, len(from.Model.Vocab)), make([]int32, len(from.Model.Vocab))
	for text, i := range from.Model.Vocab {
		tokens[i], kinds[i] = text, 1
	}
	for _, a := range from.Added {
		kinds[a.ID] = 3
	}
	merges := []string{}
	for _, m := range from.Model.Merges {
		merges = append(merges, m[0]+" "+m[1])
	}
	metadata["tokenizer.ggml.model"], metadata["tokenizer.ggml.tokens"] = "gpt2", tokens
	metadata["tokenizer.ggml.token_type"], metadata["tokenizer.ggml.merges"] = kinds, merges
}

// SmolLM2 is the file that `make chat` fetches, or that FLASHLAB_SMOLLM2 names. Where it is not, the test is skipped.
func SmolLM2(t testing.TB) string {
	t.Helper()
	file := os.Getenv("FLASHLAB_SMOLLM2")
	if file == "" {
		root := "." // of the course, above wherever a test runs
		for range 8 {
			if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
				break
			}
			root = filepath.Join(root, "..")
		}
		file = filepath.Join(root, "out", "models", "SmolLM2-135M-Instruct.Q4_1.gguf")
	}
	if _, err := os.Stat(file); err != nil {
		t.Skipf("%s is not there: make chat fetches it", file)
	}
	return file
}
