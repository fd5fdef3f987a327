package harmless

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestText(t *testing.T) {
	assert.Equal(t, "a⟨U+001B⟩[2J\n\tb", Text("a\x1b[2J\n\tb"))
	assert.Equal(t, "⟨U+202E⟩exe.txt⟨U+200B⟩⟨U+FEFF⟩", Text("\u202eexe.txt\u200b\ufeff"))
	assert.Equal(t, "Zoë, می\u200cخواهم", Text("Zoë, می\u200cخواهم"), "names are left alone")
	assert.Len(t, []rune(Text("Z"+strings.Repeat("\u0336", 50))), 1+mostMarks)
	assert.Equal(t, "�", Text("\xff"))
	assert.Equal(t, "ada⟨U+200D⟩ ada⟨U+3164⟩ \u0645\u200c⟨U+200C⟩", Text("ada\u200d ada\u3164 \u0645\u200c\u200c"), "no two ids look alike by what cannot be seen")
}
