package bpe

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/dlclark/regexp2"
)

// LoadJSON reads a folder's tokenizer.json, by what that file itself says: how to cut a text
// into words, which pairs to join, what to put before and behind. It reads byte-level BPE, as
// Llama 3 has. What else a file asks for is an error, for its tokens would be others. Where
// the folder has none, the error is fs.ErrNotExist.
func LoadJSON(dir fs.FS) (*Tokenizer, error) {
	data, err := fs.ReadFile(dir, tokenizerFile)
	if err != nil {
		return nil, err
	}
	var file fullJSON
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", tokenizerFile, err)
	}
	t, err := file.tokenizer()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tokenizerFile, err)
	}
	return t, nil
}

// fullJSON is tokenizer.json. Its truncation and padding are for batches, not for a text.
type fullJSON struct {
	Model struct {
		Type         string
		Vocab        map[string]int32
		Merges       []pair
		IgnoreMerges bool     `json:"ignore_merges"`
		Fallback     bool     `json:"byte_fallback"`
		Dropout      *float64 `json:"dropout"`
		Prefix       string   `json:"continuing_subword_prefix"`
		Suffix       string   `json:"end_of_word_suffix"`
		Unknown      *string  `json:"unk_token"`
	}
	Normalizer *part
	Cutting    *part `json:"pre_tokenizer"`
	Decoder    *part
	Frame      *part `json:"post_processor"`
	Added      []struct {
		ID         int32
		Content    string
		SingleWord bool `json:"single_word"`
		Left       bool `json:"lstrip"`
		Right      bool `json:"rstrip"`
	} `json:"added_tokens"`
}

// part is one of the file's building blocks, of which some hold others.
type part struct {
	Type string

	Cuttings   []*part `json:"pretokenizers"`
	Processors []*part `json:"processors"`
	Pattern    struct{ Regex, String string }
	Behavior   string
	Invert     bool
	Individual bool  `json:"individual_digits"`
	Prefix     bool  `json:"add_prefix_space"`
	Words      *bool `json:"use_regex"`

	Single []struct {
		SpecialToken *struct{ ID string }
		Sequence     *struct{ ID string }
	}
	Special map[string]struct{ IDs []int32 } `json:"special_tokens"`
}

func (file fullJSON) tokenizer() (*Tokenizer, error) {
	m := file.Model
	switch {
	case m.Type != "BPE":
		return nil, fmt.Errorf("a model of type %q: want BPE", m.Type)
	case m.Fallback:
		return nil, fmt.Errorf("byte_fallback is true: this is SentencePiece's BPE, as Llama 2 has; only byte-level BPE, as Llama 3 has, can be read")
	case m.Dropout != nil && *m.Dropout != 0, m.Prefix != "", m.Suffix != "":
		return nil, fmt.Errorf("dropout, continuing_subword_prefix or end_of_word_suffix is set: want none, as byte-level BPE has")
	case file.Normalizer != nil:
		return nil, fmt.Errorf("a normalizer %q: want none, as Llama 3 has", file.Normalizer.Type)
	case file.Decoder == nil || file.Decoder.Type != "ByteLevel":
		return nil, fmt.Errorf("the decoder is not ByteLevel: want byte-level BPE, as Llama 3 has")
	}
	t := &Tokenizer{end: -1}
	w := &byPairs{join: m.IgnoreMerges}
	var err error
	if w.cuts, err = file.Cutting.cuts(); err != nil {
		return nil, err
	}
	if err := file.add(t, w); err != nil {
		return nil, err
	}
	if err := file.known(); err != nil {
		return nil, err
	}
	if err := w.learn(t, m.Vocab, m.Merges); err != nil {
		return nil, err
	}
	if err := file.Frame.frame(w, t); err != nil {
		return nil, err
	}
	t.file = w
	return t, nil
}

// add takes the tokens that stand for themselves.
func (file fullJSON) add(t *Tokenizer, w *byPairs) error {
	added := map[string]int32{}
	for _, a := range file.Added {
		switch {
		case a.Content == "":
			return fmt.Errorf("added token %d has no content", a.ID)
		case a.SingleWord || a.Left || a.Right:
			return fmt.Errorf("the added token %q has single_word, lstrip or rstrip: want none of them", a.Content)
		}
		if have, twice := added[a.Content]; twice && have != a.ID {
			return fmt.Errorf("the added token %q is both %d and %d", a.Content, have, a.ID)
		}
		if have, ok := file.Model.Vocab[a.Content]; ok && have == a.ID {
			delete(file.Model.Vocab, a.Content)
		}
		added[a.Content] = a.ID
	}
	return w.add(t, added)
}

// known refuses a vocabulary in which a token stands for bytes that it lacks: here these leave none.
func (file fullJSON) known() error {
	if file.Model.Unknown == nil {
		return nil
	}
	if b := lacking(file.Model.Vocab); b >= 0 {
		return fmt.Errorf("byte %#02x: the vocabulary has no %q, and unk_token is %q: want all bytes, or no unk_token", b, string(writtenAs[b]), *file.Model.Unknown)
	}
	return nil
}

// cuts are the patterns by which a text is cut into words, one after the other.
func (p *part) cuts() (all []*regexp2.Regexp, err error) {
	steps := []*part{p}
	if p != nil && p.Type == "Sequence" {
		steps = p.Cuttings
	}
	if len(steps) == 0 || steps[len(steps)-1] == nil || steps[len(steps)-1].Type != "ByteLevel" {
		return nil, fmt.Errorf("the pre_tokenizer does not end with ByteLevel: want byte-level BPE, as Llama 3 has")
	}
	for i, s := range steps {
		pattern := ""
		switch {
		case s == nil:
			return nil, fmt.Errorf("pre_tokenizer %d is null", i+1)
		case s.Type == "ByteLevel" && i == len(steps)-1:
			if s.Prefix {
				return nil, fmt.Errorf("add_prefix_space = true: want false, as Llama 3 has")
			}
			if s.Words == nil || *s.Words {
				pattern = words
			}
		case s.Type == "Digits" && s.Individual:
			pattern = `\p{N}`
		case s.Type == "Digits":
			pattern = `\p{N}+`
		case s.Type == "Split" && s.Behavior == "Isolated" && !s.Invert && s.Pattern.Regex != "":
			pattern = s.Pattern.Regex
		case s.Type == "Split":
			return nil, fmt.Errorf("a pre_tokenizer Split (behavior %q, invert = %v): want a Regex, \"Isolated\", false, as Llama 3 has", s.Behavior, s.Invert)
		default:
			return nil, fmt.Errorf("a pre_tokenizer %q: want Split or Digits, then ByteLevel", s.Type)
		}
		if pattern == "" {
			continue
		}
		r, err := regexp2.Compile(pattern, regexp2.None)
		if err != nil {
			return nil, fmt.Errorf("the pre_tokenizer's pattern %q: %w", pattern, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// frame reads what is put before and behind a text.
func (p *part) frame(w *byPairs, t *Tokenizer) error {
	switch {
	case p == nil || p.Type == "ByteLevel":
		return nil
	case p.Type == "Sequence":
		for _, one := range p.Processors {
			if err := one.frame(w, t); err != nil {
				return err
			}
		}
		return nil
	case p.Type != "TemplateProcessing":
		return fmt.Errorf("a post_processor %q: want TemplateProcessing or ByteLevel", p.Type)
	}
	to, texts := &w.before, 0
	for _, one := range p.Single {
		switch {
		case one.Sequence != nil:
			to = &w.after
			texts++
		case one.SpecialToken != nil:
			special, ok := p.Special[one.SpecialToken.ID]
			if !ok || len(special.IDs) == 0 {
				return fmt.Errorf("the post_processor puts in %q, which its special_tokens do not have", one.SpecialToken.ID)
			}
			for _, token := range special.IDs {
				if t.Bytes(token) == nil {
					return fmt.Errorf("the post_processor puts in token %d, which the vocabulary does not have", token)
				}
			}
			*to = append(*to, special.IDs...)
		}
	}
	if texts != 1 {
		return fmt.Errorf("the post_processor's single has %d texts: want 1", texts)
	}
	return nil
}
