// Package talk lets a Llama answer in a terminal, on the kernels of whichever worker it is built into: `make chat`.
package talk

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/tasks/task7/asked"
	"flashlab/nn"
	"flashlab/nn/chat"
	"flashlab/nn/llama3"
	"flashlab/nn/lm"
)

// Made is what a model's layers are made of.
type Made struct {
	Layers   *nn.Layers
	NewLayer attn.NewLayer
	Kernels  attn.Kernels
	Grouped  bool   // its layers can share keys and values among query heads
	About    string // whose it is
}

// Program is a worker that talks: what it runs a model on, and with whom it speaks.
type Program struct {
	Kernels []string // what -kernels may be, the usual first; "go" runs the model in plain Go
	Make    func(q device.Queue, kernels string) (Made, error)
	In      io.Reader
	Out     io.Writer
	Watched bool // somebody looks at Out: bars may move there
}

// Main is `make chat`, in a terminal.
func (p Program) Main(args []string) error {
	p.In, p.Out, p.Watched = os.Stdin, os.Stdout, term.IsTerminal(int(os.Stdout.Fd()))
	return p.Run(args)
}

// talk is one conversation as it was asked for.
type talk struct {
	Program
	path, prompt, system           string
	kernels, device, weights, kept string
	tokens, positions              int
	reference                      bool
	once, told                     bool // PROMPT and SYSTEM were given, be it as nothing
	sampler                        nn.Sampler
	model                          *chat.Model
}

func (c *talk) flags() *flag.FlagSet {
	f := flag.NewFlagSet("chat", flag.ContinueOnError)
	f.StringVar(&c.path, "model", "", "GGUF file, or folder of a Hugging Face model")
	f.StringVar(&c.prompt, "prompt", "", asked.Chat.Of("prompt"))
	f.StringVar(&c.system, "system", "", asked.Chat.Of("system"))
	f.StringVar(&c.kernels, "kernels", c.Kernels[0], "one of "+strings.Join(c.Kernels, ", "))
	f.StringVar(&c.weights, "weights", "", asked.Chat.Of("weights"))
	f.StringVar(&c.kept, "cache", "", asked.Chat.Of("cache"))
	f.StringVar(&c.device, "device", "auto", "auto, sim or cuda")
	f.IntVar(&c.tokens, "tokens", 0, asked.Chat.Of("tokens"))
	f.IntVar(&c.positions, "positions", 0, asked.Chat.Of("positions"))
	f.BoolVar(&c.reference, "ref", false, asked.Chat.Of("ref"))
	f.Float64Var(&c.sampler.Temperature, "temperature", 0, asked.Chat.Of("temperature"))
	f.IntVar(&c.sampler.TopK, "topk", 0, asked.Chat.Of("topk"))
	f.Float64Var(&c.sampler.TopP, "topp", 0, asked.Chat.Of("topp"))
	f.Uint64Var(&c.sampler.Seed, "seed", 1, asked.Chat.Of("seed"))
	return f
}

// Run lets a Llama answer, on whosever kernels the program has.
func (p Program) Run(args []string) error {
	c := talk{Program: p}
	f := c.flags()
	if err := f.Parse(args); err != nil {
		return err
	}
	f.Visit(func(one *flag.Flag) {
		c.once, c.told = c.once || one.Name == "prompt", c.told || one.Name == "system"
	})
	if err := c.check(); err != nil {
		return err
	}
	m, err := chat.Open(c.path)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	c.model = m
	switch {
	case c.told && !m.Template.Chats():
		return errors.New("SYSTEM goes with a model that has a chat template, and this one has none")
	case c.told:
		m.Template.System = c.system
	}
	fmt.Fprintf(c.Out, "%s\n%v\n", m.About(), m.Config())
	if !m.Template.Chats() {
		fmt.Fprintln(c.Out, "It has no chat template: it goes on from what it is told.")
	}
	if c.reference {
		return c.besideReference()
	}
	return Advice(c.converse())
}

// check tells what is wrong with what was asked.
func (c *talk) check() error {
	switch {
	case !slices.Contains(c.Kernels, c.kernels):
		return fmt.Errorf("-kernels %s: want %s", c.kernels, strings.Join(c.Kernels, ", "))
	case c.kept != "" && c.kernels != "go":
		return errors.New("CACHE goes with KERNELS=go: kernels keep keys and values in the type that they read")
	case c.path == "":
		return errors.New("MODEL is empty: want a GGUF file, or the folder of a Hugging Face model")
	case c.once && strings.TrimSpace(c.prompt) == "":
		return errors.New("PROMPT is empty: ask something, or leave it out to type questions")
	case c.reference && !c.once:
		return errors.New("REF goes with PROMPT: it sets two answers to one question side by side")
	case c.tokens < 0 || c.positions < 0:
		return errors.New("TOKENS and POSITIONS: want 1 at least")
	}
	return c.sampler.Check()
}

// session makes the model on the device, and tells how long a token takes where that is long.
func (c *talk) session(show *bar) (s *chat.Session, closed func(), err error) {
	if c.kernels == "go" {
		s, err = c.inGo()
		return s, func() {}, err
	}
	d, err := OpenDevice(c.device)
	if err != nil {
		return nil, nil, err
	}
	s, m, about, err := c.on(d)
	if err != nil {
		_ = d.Close()
		return nil, nil, err
	}
	m.Progress = show.progress
	closed = func() { _ = m.Close(); _ = d.Close() }
	fmt.Fprintf(c.Out, "on %s, with %s\n", d.Info().Name, about)
	if err := c.warm(m, d, show); err != nil {
		closed()
		return nil, nil, err
	}
	return s, closed, nil
}

// on puts the model on a device.
func (c *talk) on(d *Counting) (*chat.Session, *llama3.Model, string, error) {
	if d.Info().Kind == device.Sim {
		c.tokens, c.positions = cmp.Or(c.tokens, 100), cmp.Or(c.positions, 512)
	}
	c.tokens, c.positions = cmp.Or(c.tokens, 300), cmp.Or(c.positions, 2048)
	made, err := c.Make(device.QueueOf(d), c.kernels)
	if err != nil {
		return nil, nil, "", err
	}
	var q device.Queue = d
	if d.Info().Kind == device.Sim {
		q, made.Layers = device.QueueOf(d), made.Layers.Alone() // no graph: the bar shows layer by layer how far a token is
	}
	w, err := c.rounded()
	if err != nil {
		return nil, nil, "", err
	}
	m, err := llama3.NewModel(q, made.Layers, w, llama3.Room{Positions: c.positions, Grouped: made.Grouped}, made.NewLayer, made.Kernels)
	if err != nil {
		return nil, nil, "", err
	}
	return c.over(m), m, made.About, nil
}

// over is a conversation with a model.
func (c *talk) over(m lm.LM) *chat.Session {
	return &chat.Session{Model: m, Template: c.model.Template, Stops: c.model.Config().Ends, Sampler: c.sampler, Tokens: c.tokens}
}

// warm runs a token or two before anybody waits: kernels are loaded when they are first launched, and the second step is
// recorded. In the simulator it says what a token takes.
func (c *talk) warm(m *llama3.Model, d device.Device, show *bar) error {
	steps := 3
	if d.Info().Kind == device.Sim {
		steps = 0
		fmt.Fprintln(c.Out, "In the simulator, without its checks, which belong to make grade.")
	}
	began := time.Now()
	if err := m.Prefill([]int32{0}); err != nil {
		return err
	}
	for range steps {
		if err := m.Step(0); err != nil {
			return err
		}
	}
	if _, err := m.Greedy(); err != nil {
		return err
	}
	show.clear()
	if steps == 0 {
		fmt.Fprintf(c.Out, "A token takes %s here; a GPU needs milliseconds.\n", Short(time.Since(began)))
	}
	return m.Reset()
}

// converse answers one question, or all that are typed.
func (c *talk) converse() error {
	show := &bar{to: c.Out, on: c.Watched}
	s, closed, err := c.session(show)
	if err != nil {
		return err
	}
	defer closed()
	if c.once {
		fmt.Fprintf(c.Out, "\nyou: %s\n", strings.ToValidUTF8(c.prompt, "\ufffd"))
		return c.answer(s, show, c.prompt)
	}
	fmt.Fprintln(c.Out, "Type a question; Ctrl-D ends the conversation.")
	lines := bufio.NewScanner(c.In)
	lines.Buffer(nil, 1<<20)
	for {
		fmt.Fprint(c.Out, "\nyou: ")
		if !lines.Scan() {
			fmt.Fprintln(c.Out)
			return lines.Err()
		}
		if !c.Watched { // nobody has typed it there
			fmt.Fprintln(c.Out, strings.ToValidUTF8(lines.Text(), "\ufffd"))
		}
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		if err := c.answer(s, show, lines.Text()); err != nil {
			return err
		}
	}
}

// answer streams what the model says, and then how long it took.
func (c *talk) answer(s *chat.Session, show *bar, question string) error {
	if c.model.Template.Chats() {
		fmt.Fprint(c.Out, "model: ")
	}
	s.Read = func(int, int) { show.clear() }
	text := c.model.Tokenizer.Stream(safe{c.Out})
	a, err := s.Say(question, func(token int32) error {
		show.clear()
		return text.Token(token)
	})
	show.clear()
	_ = text.Close()
	fmt.Fprintln(c.Out)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.Out, told(a))
	return nil
}

// told says how long an answer took.
func told(a chat.Answer) string {
	text := fmt.Sprintf("(%d tokens read, the first one of the answer after %s", a.Read, Short(a.First))
	if n := len(a.Each); n > 0 {
		var sum time.Duration
		for _, one := range a.Each {
			sum += one
		}
		text += fmt.Sprintf(", then %s a token", Short(sum/time.Duration(n)))
	}
	text += fmt.Sprintf("; %d tokens", len(a.Tokens))
	if a.Cut != "" {
		text += "; cut: " + a.Cut
	}
	if a.Forgot {
		text += "; the conversation was too long, and begins anew with this question"
	}
	return text + ")"
}
