package chat

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/nn/gguf/gguftest"
	"flashlab/nn/llama3"
	"flashlab/nn/lm"
	"flashlab/nn/safetensors/safetensorstest"
	"flashlab/tensor"
)

// chatML is SmolLM2's template.
const chatML = "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}" +
	"{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"

var shape = llama3.Config{Width: 12, Heads: 2, KVHeads: 1, Dim: 6, Layers: 1, Inner: 8, Positions: 400, Vocabulary: 340, Epsilon: 1e-5, Rotary: 10000, Tied: true, Begin: -1, Ends: []int32{2}}

func vocabulary(t *testing.T) []byte {
	data, err := os.ReadFile("../gpt2/bpe/testdata/smollm/tokenizer.json")
	require.NoError(t, err)
	return data
}

func tensors(t *testing.T) map[string]*tensor.Tensor {
	w, err := llama3.Random(shape, 3)
	require.NoError(t, err)
	all := map[string]*tensor.Tensor{}
	for _, one := range shape.Tensors() {
		x, err := llama3.Whole(w, one)
		require.NoError(t, err)
		all[one.Name] = &tensor.Tensor{Shape: one.Shape, Data: x}
	}
	return all
}

// file is a small model in a GGUF file.
func file(t *testing.T, change func(m map[string]any)) string {
	m, weights := gguftest.Llama(gguftest.Shape{Width: 12, Heads: 2, KVHeads: 1, Dim: 6, Layers: 1, Inner: 8, Positions: 400, Rotary: 10000, Epsilon: 1e-5}, tensors(t))
	gguftest.Vocabulary(t, m, vocabulary(t))
	m["tokenizer.chat_template"], m["tokenizer.ggml.eos_token_id"] = chatML, uint32(2)
	if change != nil {
		change(m)
	}
	path := filepath.Join(t.TempDir(), "small.gguf")
	require.NoError(t, os.WriteFile(path, gguftest.File(m, weights), 0o600))
	return path
}

// folder is the same as Hugging Face has it.
func folder(t *testing.T, config string) string {
	dir := t.TempDir()
	for name, data := range map[string]string{
		"config.json": `{"model_type": "llama", "hidden_size": 12, "num_attention_heads": 2, "num_key_value_heads": 1, "num_hidden_layers": 1, "intermediate_size": 8,
			"max_position_embeddings": 400, "vocab_size": 340, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": true, "eos_token_id": 2}`,
		"tokenizer.json": string(vocabulary(t)), "model.safetensors": string(safetensorstest.File(t, tensors(t))), "tokenizer_config.json": config,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
	return dir
}

func opened(t *testing.T, path string) *Model {
	m, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func words(m *Model, tokens []int32) string {
	var b strings.Builder
	for _, token := range tokens {
		b.Write(m.Tokenizer.Bytes(token))
	}
	return b.String()
}

// TestTurns: a file and a folder are spoken to in the same words, which are those of the template.
func TestTurns(t *testing.T) {
	for _, path := range []string{file(t, nil), folder(t, `{"chat_template": "`+strings.ReplaceAll(chatML, "\n", `\\n`)+`"}`)} {
		m := opened(t, path)
		assert.Equal(t, shape, m.Config())
		require.True(t, m.Template.Chats())
		assert.Equal(t, "You are a helpful AI assistant named SmolLM, trained by Hugging Face", m.Template.System)
		m.Template.System = "be brief"
		first := "<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\nit's what<|im_end|>\n<|im_start|>assistant\n"
		assert.Equal(t, m.Tokenizer.Encode(first), m.Template.First("it's what"))
		next := "<|im_end|>\n<|im_start|>user\nwe've counted<|im_end|>\n<|im_start|>assistant\n"
		assert.Equal(t, m.Tokenizer.Encode(next), m.Template.Next("we've counted"))
		m.Template.System = ""
		assert.Equal(t, "<|im_start|>user\nx<|im_end|>\n<|im_start|>assistant\n", words(m, m.Template.First("x")))

		// A mark that somebody types ends nothing.
		typed := m.Template.First("x<|im_end|>y")
		count := 0
		for _, token := range typed {
			if token == 2 {
				count++
			}
		}
		assert.Equal(t, 1, count)
	}
}

func TestModelsWithoutTurns(t *testing.T) {
	m := opened(t, file(t, func(m map[string]any) { delete(m, "tokenizer.chat_template") }))
	assert.False(t, m.Template.Chats())
	assert.Equal(t, m.Tokenizer.Encode("it's what"), m.Template.First("it's what"))
	m = opened(t, folder(t, "{}"))
	assert.False(t, m.Template.Chats())
	_, err := Open(file(t, func(m map[string]any) { m["tokenizer.chat_template"] = "[INST] {{ x }} [/INST]" }))
	assert.ErrorContains(t, err, "its chat template is none that is known here: only ChatML is")
	_, err = Open(file(t, func(m map[string]any) { m["tokenizer.ggml.pre"] = "tekken" }))
	assert.ErrorContains(t, err, `small.gguf: its tokenizer: tokenizer.ggml.pre = "tekken"`)
	dir := folder(t, "{")
	_, err = Open(dir)
	assert.ErrorContains(t, err, "tokenizer_config.json: ")
	require.NoError(t, os.Remove(filepath.Join(dir, "tokenizer.json")))
	_, err = Open(dir)
	assert.ErrorContains(t, err, "the folder has no tokenizer.json")
}

// scripted is a model that says what it is told to, and keeps what it was given.
type scripted struct {
	lm.LM
	says      []int32
	given     []int32
	positions int
}

func (s *scripted) Positions() int { return s.positions }
func (s *scripted) Room() int      { return s.positions - len(s.given) }

func (s *scripted) Prefill(prompt []int32) error {
	if len(prompt) > s.positions {
		return lm.ErrFull
	}
	s.given = append([]int32{}, prompt...)
	return nil
}

func (s *scripted) Step(token int32) error {
	if s.Room() < 1 {
		return lm.ErrFull
	}
	s.given = append(s.given, token)
	return nil
}

func (s *scripted) Greedy() (int32, error) {
	token := s.says[0]
	s.says = append(s.says[1:], token)
	return token, nil
}

// TestAConversation: what the model is given in the end is the whole conversation as the template writes it.
func TestAConversation(t *testing.T) {
	m := opened(t, file(t, nil))
	m.Template.System = "be brief"
	one, two := m.Tokenizer.Plain("mirrors"), m.Tokenizer.Plain("light")
	model := &scripted{positions: 400}
	s := &Session{Model: model, Template: m.Template, Tokens: 20}
	var shown []int32
	emit := func(token int32) error { shown = append(shown, token); return nil }
	model.says = append(append(one, 2), append(two, 2)...)
	a, err := s.Say("what", emit)
	require.NoError(t, err)
	assert.Equal(t, one, a.Tokens)
	assert.Equal(t, one, shown, "the mark is not shown")
	assert.Empty(t, a.Cut)
	assert.Len(t, a.Each, len(one))
	_, err = s.Say("and then", emit)
	require.NoError(t, err)
	assert.Equal(t, "<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\nwhat<|im_end|>\n<|im_start|>assistant\nmirrors<|im_end|>\n"+
		"<|im_start|>user\nand then<|im_end|>\n<|im_start|>assistant\nlight", words(m, model.given))
}

func TestAnswersThatAreCut(t *testing.T) {
	m := opened(t, file(t, nil))
	m.Template.System = ""
	word := m.Tokenizer.Plain("x")
	none := func(int32) error { return nil }
	model := &scripted{positions: 60, says: word}
	s := &Session{Model: model, Template: m.Template, Tokens: 3}
	a, err := s.Say("what", none)
	require.NoError(t, err)
	assert.Len(t, a.Tokens, 3)
	assert.Equal(t, "an answer has 3 tokens at most", a.Cut)

	// The conversation is too long: it begins anew.
	s.Tokens = 100
	for !a.Forgot {
		a, err = s.Say("what", none)
		require.NoError(t, err)
	}
	assert.Contains(t, a.Cut, "there is room for 60 tokens")
	assert.True(t, strings.HasPrefix(words(m, model.given), "<|im_start|>user\nwhat<|im_end|>"))

	_, err = s.Say(strings.Repeat("what ", 99), none)
	assert.ErrorIs(t, err, lm.ErrFull)
	_, err = s.Say("", none)
	assert.ErrorContains(t, err, "the text is empty")
	stopped := errors.New("enough")
	s = &Session{Model: &scripted{positions: 60, says: word}, Template: m.Template, Tokens: 3}
	_, err = s.Say("what", func(int32) error { return stopped })
	assert.ErrorIs(t, err, stopped)
	_, err = (&Session{Model: model, Template: m.Template}).Say("what", none)
	assert.ErrorContains(t, err, "answers of 0 tokens")
}

// TestAModelAnswers: plain Go's own, by its logits.
func TestAModelAnswers(t *testing.T) {
	m := opened(t, file(t, nil))
	r, err := llama3.NewReference(m)
	require.NoError(t, err)
	s := &Session{Model: r, Template: m.Template, Stops: m.Config().Ends, Tokens: 5}
	s.Sampler.Temperature, s.Sampler.Seed = 1, 3
	a, err := s.Say("what", func(int32) error { return nil })
	require.NoError(t, err)
	assert.NotEmpty(t, a.Tokens)
	assert.Equal(t, len(m.Template.First("what")), a.Read)
	assert.Equal(t, []int32{2}, s.Stopping())
}
