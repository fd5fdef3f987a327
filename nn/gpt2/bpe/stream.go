package bpe

import (
	"io"
	"unicode/utf8"
)

// Stream writes text as its tokens come, whole characters at a time: a token
// may end within one.
type Stream struct {
	tokenizer *Tokenizer
	w         io.Writer
	held      []byte // the beginning of a character
}

// Stream starts a text.
func (t *Tokenizer) Stream(w io.Writer) *Stream { return &Stream{tokenizer: t, w: w} }

// Token writes what is complete once this token has come.
func (s *Stream) Token(token int32) error {
	s.held = append(s.held, s.tokenizer.Bytes(token)...)
	n := complete(s.held)
	text := s.held[:n]
	s.held = append([]byte(nil), s.held[n:]...)
	return s.write(text)
}

// Close writes what was held back, as a part of a character that it is.
func (s *Stream) Close() error {
	text := s.held
	s.held = nil
	return s.write(text)
}

// write shows bytes that are no UTF-8 as U+FFFD, for terminals' sake.
func (s *Stream) write(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	_, err := io.WriteString(s.w, string([]rune(string(text))))
	return err
}

// complete is the length of text without a character at its end that more
// bytes may complete.
func complete(text []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		at := len(text) - back
		if utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				return at
			}
			break
		}
	}
	return len(text)
}
