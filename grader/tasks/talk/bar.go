package talk

import (
	"fmt"
	"io"

	"flashlab/internal/harmless"
)

// bar shows how far a token is: a single cell behind the text, which fills up layer by layer. It needs a terminal.
type bar struct {
	to    io.Writer
	on    bool
	shown bool
}

var eighths = []rune(" ▏▎▍▌▋▊▉█")

// progress fills the cell.
func (b *bar) progress(done, all int) {
	if !b.on {
		return
	}
	if b.shown {
		fmt.Fprint(b.to, "\b")
	}
	fmt.Fprint(b.to, string(eighths[done*(len(eighths)-1)/max(all, 1)]))
	b.shown = true
}

// clear takes it away: the text goes on where it was.
func (b *bar) clear() {
	if b.shown {
		fmt.Fprint(b.to, "\b \b")
	}
	b.shown = false
}

// safe shows a model's words, in which nothing can act on a terminal.
type safe struct{ to io.Writer }

func (s safe) Write(text []byte) (int, error) {
	_, err := io.WriteString(s.to, harmless.Text(string(text)))
	return len(text), err
}
