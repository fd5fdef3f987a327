package pace

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Times are those of a model that answers: to the first token, of several answers, and
// between tokens, of one. In JSON they are nanoseconds.
type Times struct {
	First, Each []time.Duration
	Tokens      [][]int32 // that were written in the latter: each time one of each sequence
	Work        *Work     `json:",omitempty"`
}

// Work is the least that a model has to do.
type Work struct {
	Prompt float64 // operations of a prompt
	Token  float64 // bytes that a token reads, on average
}

// Write writes them on one line.
func (t Times) Write(w io.Writer) error {
	line, err := json.Marshal(t)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", line)
	}
	return err
}
