package harmless

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		"Ada": "Ada", "Ōtani": "Ōtani", "3.5": "3.5", "-2": "-2", "": "", "    Points Possible": "    Points Possible", "2 of 4; 1 needs a GPU": "2 of 4; 1 needs a GPU",
		"=1+1": "'=1+1", "＝HYPERLINK": "'＝HYPERLINK", " =1": "' =1", "-1+2": "'-1+2", "\t@x": "' @x", "a;=1": "a;'=1", ";=1+1;+2": ";'=1+1;'+2", `a;"=1"`: `a;'"=1"`,
		"'s-Gravesande": "''s-Gravesande", "two\nlines": "two lines", "a\x1b[2J": "a⟨U+001B⟩[2J", "\u200d=1": "'⟨U+200D⟩=1",
	} {
		assert.Equal(t, want, Cell(text), "%q", text)
		if Line(text) == text {
			assert.Equal(t, text, Uncell(want), "it comes back")
		}
	}
	assert.Equal(t, "'s-Gravesande", Uncell("'s-Gravesande"), "nobody quoted it")
	assert.Equal(t, `"a,b",'=1,"say ""x"""`, Row("a,b", "=1", `say "x"`))
}

// kind is a text of a type of its own.
type kind string

func TestAll(t *testing.T) {
	v := struct {
		A string
		B []struct{ C *string }
		D any
		E map[string][]string
		F any
		G map[string]any
	}{F: "\x1b", G: map[string]any{"k": struct{ H string }{"\x1b"}}, E: map[string][]string{"k": {"\x1b"}}, A: "\x1b", B: []struct{ C *string }{{new(string)}}}
	*v.B[0].C = "\u202e"
	v.D = &v.B[0].C
	All(&v)
	assert.Equal(t, "⟨U+001B⟩⟨U+202E⟩⟨U+001B⟩", v.A+*v.B[0].C+v.E["k"][0])
	assert.Equal(t, "⟨U+001B⟩", v.F)
	assert.Equal(t, struct{ H string }{"⟨U+001B⟩"}, v.G["k"])
	assert.Equal(t, []any{"⟨U+0007⟩", 3, "⟨U+0007⟩"}, Args([]any{"\a", 3, kind("\a")}))
	for _, foreign := range []string{"<p>Good work.</p>", "&nbsp;ok", "#1 Flash (123)", "[A] quiz"} { // as other programs' tables have them
		assert.Equal(t, foreign, Cell(foreign))
	}
	assert.False(t, strings.Contains(Line("a\r\nb\tc"), "\n"))
}
