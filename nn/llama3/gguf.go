package llama3

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"flashlab/nn/gguf"
	"flashlab/tensor"
)

// GGUF is a model in a single file, as llama.cpp has it. Its numbers were rounded to the file's types, and are read as
// what they were rounded to.
type GGUF struct {
	config Config
	about  string
	file   *gguf.File
	closer io.Closer
}

var _ Weights = (*GGUF)(nil)

// ggufNames are the file's for ours: outside the layers, then of a layer.
var ggufNames = map[string]string{
	TokenTable: "token_embd.weight", FinalGain: "output_norm.weight", Head: "output.weight",
	Gain1: "attn_norm.weight", Gain2: "ffn_norm.weight",
	Q: "attn_q", K: "attn_k", V: "attn_v", O: "attn_output", Gate: "ffn_gate", Up: "ffn_up", Down: "ffn_down",
}

// divisorsName is where the file of a Llama 3.1 has what its RoPE's frequencies are divided by.
const divisorsName = "rope_freqs.weight"

// inGGUF is a weight's name in the file.
func inGGUF(name string) string {
	if whole, ok := ggufNames[name]; ok {
		return whole
	}
	var layer int
	_, _ = fmt.Sscanf(name, "model.layers.%d.", &layer) // all others have it
	name = strings.TrimPrefix(name, InLayer(layer, ""))
	if whole, ok := ggufNames[name]; ok {
		return fmt.Sprintf("blk.%d.%s", layer, whole)
	}
	at := strings.LastIndexByte(name, '.')
	return fmt.Sprintf("blk.%d.%s%s", layer, ggufNames[name[:at]], name[at:])
}

// ReaderAt is a file that can be read anywhere.
type ReaderAt interface {
	io.ReaderAt
	io.Closer
}

// OpenGGUF reads a file's header, and checks that all weights are there, in the right shapes and in types that can be
// read. name is for messages. Close closes the file; if there is an error, it is closed already.
func OpenGGUF(r ReaderAt, size int64, name string) (*GGUF, error) {
	g := &GGUF{about: name, closer: r}
	err := g.open(r, size)
	if err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return g, nil
}

func (g *GGUF) open(r io.ReaderAt, size int64) (err error) {
	if g.file, err = gguf.Parse(r, size); err != nil {
		return err
	}
	if g.config, err = fromMetadata(g.file); err != nil {
		return err
	}
	if err := g.config.Check(); err != nil {
		return err
	}
	return g.check()
}

// check looks whether the weights are there.
func (g *GGUF) check() error {
	known := map[string]bool{}
	for _, t := range g.config.Tensors() {
		name := inGGUF(t.Name)
		known[name] = true
		shape, ok := g.file.Shape(name)
		switch {
		case !ok:
			return fmt.Errorf("the weight %s is missing; there are %s", name, some(g.file.Names()))
		case !slices.Equal(shape, t.Shape):
			return fmt.Errorf("the weight %s is %s; the metadata asks for %s", name, tensor.ShapeString(shape), tensor.ShapeString(t.Shape))
		}
		if err := g.file.Readable(name); err != nil {
			return fmt.Errorf("the weight %s: %w", name, err)
		}
	}
	for _, name := range g.file.Names() { // a bias that would not be added makes another model
		if strings.HasSuffix(name, Bias) && !known[name] {
			return fmt.Errorf("there is a %s, which a Llama lacks: this is another model", name)
		}
	}
	return nil
}

// Config is the model's shape.
func (g *GGUF) Config() Config { return g.config }

// About names the file, and what its weights were rounded to: whoever measures them measures that, too.
func (g *GGUF) About() string {
	kinds, all := g.file.Types(), 0
	for _, n := range kinds {
		all += n
	}
	var parts []string
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(a, b string) int { return kinds[b] - kinds[a] }) {
		if share := 100 * kinds[kind] / max(all, 1); kind != "F32" && share > 0 {
			parts = append(parts, fmt.Sprintf("%s (%d %%)", kind, share))
		}
	}
	if parts == nil {
		return g.about
	}
	return g.about + ", weights already rounded to " + strings.Join(parts, ", ")
}

// Metadata is what the file says besides: its tokens, for one.
func (g *GGUF) Metadata() gguf.Metadata { return g.file.Metadata }

// Close closes the file.
func (g *GGUF) Close() error { return g.closer.Close() }

// Read reads a piece of one weight. llama.cpp turns neighbours in a head's query or key where Hugging Face turns the
// numbers j and j + Dim/2, and the file's rows are in llama.cpp's order.
func (g *GGUF) Read(t Tensor, from int, into []float32) error {
	name := inGGUF(t.Name)
	if !strings.Contains(name, ".attn_q.") && !strings.Contains(name, ".attn_k.") {
		return g.read(name, from, into)
	}
	width := t.Elements() / t.Shape[0] // of a row; 1 in a bias
	for len(into) > 0 {
		row, at := from/width, from%width
		n := min(width-at, len(into))
		if err := g.read(name, g.config.neighbour(row)*width+at, into[:n]); err != nil {
			return err
		}
		into, from = into[n:], from+n
	}
	return nil
}

// neighbour is where a row of queries or keys is in llama.cpp's order: pair j of a head has the rows 2j and 2j + 1 there.
func (c Config) neighbour(row int) int {
	head, at := row/c.Dim, row%c.Dim
	half := c.Dim / 2
	return head*c.Dim + at%half*2 + at/half
}

func (g *GGUF) read(name string, from int, into []float32) error {
	if err := g.file.Read(name, from, into); err != nil {
		return fmt.Errorf("%s: the weight %s: %w", g.about, name, err)
	}
	for i, v := range into {
		if v-v != 0 { // NaN and the infinities
			return fmt.Errorf("%s: the weight %s is corrupt: value %d is %v", g.about, name, from+i, v)
		}
	}
	return nil
}
