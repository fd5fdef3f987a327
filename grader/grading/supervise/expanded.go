package supervise

import (
	"slices"
	"sync"

	"flashlab/device"
	"flashlab/device/preprocess"
)

// Expanded is what a compiler's preprocessor made of a kernel's file, with the values that Go gave its macros: what is
// compiled, and so what is compared with the course's code.
type Expanded struct {
	Folder string // the file's, in the tree
	Lines  []preprocess.Line
}

// mostExpanded texts are kept: a program may compile a file with any number of values.
const mostExpanded = 200

// expansions collects them, each once.
type expansions struct {
	mu  sync.Mutex
	all []Expanded
}

func (e *expansions) add(src device.Source, forms ...[]preprocess.Line) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, lines := range forms {
		same := func(x Expanded) bool { return x.Folder == src.Folder && slices.Equal(x.Lines, lines) }
		if len(e.all) < mostExpanded && !slices.ContainsFunc(e.all, same) {
			e.all = append(e.all, Expanded{src.Folder, lines})
		}
	}
}

// list are the texts that have been compiled so far.
func (e *expansions) list() []Expanded {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.all)
}
