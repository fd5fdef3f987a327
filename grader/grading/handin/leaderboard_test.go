package handin

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheChosenNameIsTheFirstLine(t *testing.T) {
	for file, want := range map[string]string{
		"": "", "\n\n": "", "# only a comment\n": "", "Warp Emmy\n": "Warp Emmy", "\ufeff# why\r\n\r\n  Warp Emmy \r\nmore\n": "Warp Emmy",
		strings.Repeat("é", 4000): strings.Repeat("é", 48),
	} {
		assert.Equal(t, want, ChosenName([]byte(file)), "%q", file)
	}
}

func TestNamesThatNoLeaderboardShows(t *testing.T) {
	for _, name := range []string{"Warp Emmy", "b2", "Зоя 7", "Ada L.", "O'Neill", "作業", "नमस्ते", "a+b_c-d", strings.Repeat("x", 24)} {
		assert.NoError(t, CheckName(name), name)
	}
	for name, why := range map[string]string{
		"": "no name", "x": "1 character:", strings.Repeat("x", 25): "25 characters:", "<b>me</b>": "neither a letter", "me<b>": "'<'", "=1+1": "neither a letter",
		"a\u202eb": "cannot be seen", "a\tb": "cannot be seen", "a\x1b[2J": "cannot be seen", "a\u200bb": "cannot be seen", "Z" + strings.Repeat("\u0336", 9): "cannot be seen",
		"\xffab": "cannot be seen", "pаypal": "mixes Latin and Cyrillic", "αlpha": "mixes Latin and Greek", "a|b": "'|'", "[x](y)": "neither a letter", "x:y": "':'",
	} {
		assert.ErrorContains(t, CheckName(name), why, "%q", name)
	}
}
