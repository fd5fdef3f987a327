package main

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"flashlab/device"
	"flashlab/grader/tasks/task7/asked"
	"flashlab/nn/chat"
	"flashlab/nn/llama3"
	"flashlab/nn/lm"
)

// talk are the flags of `chat`.
type talk struct {
	choices
	system     string
	positions  int
	once, told bool // PROMPT and SYSTEM were given, be it as nothing
	in         io.Reader
	out        io.Writer
	watched    bool // somebody looks at out: bars may move there
	model      *chat.Model
}

func (c *talk) flags() *flag.FlagSet {
	f := flag.NewFlagSet("chat", flag.ContinueOnError)
	f.StringVar(&c.choices.model, "model", "", "GGUF file, or folder of a Hugging Face model")
	f.StringVar(&c.prompt, "prompt", "", asked.Chat.Of("prompt"))
	f.StringVar(&c.system, "system", "", asked.Chat.Of("system"))
	f.StringVar(&c.kernels, "kernels", "own", "own: yours of tasks 4, 5 and 6; given: the course's; go: none, plain Go")
	f.StringVar(&c.weights, "weights", "", asked.Chat.Of("weights"))
	f.StringVar(&c.cache, "cache", "", asked.Chat.Of("cache"))
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

// talks is `make chat`: a Llama answers, on a student's kernels.
func talks(args []string) error {
	c := talk{in: os.Stdin, out: os.Stdout, watched: term.IsTerminal(int(os.Stdout.Fd()))}
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
	m, err := chat.Open(c.choices.model)
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
	fmt.Fprintf(c.out, "%s\n%v\n", m.About(), m.Config())
	if !m.Template.Chats() {
		fmt.Fprintln(c.out, "It has no chat template: it goes on from what it is told.")
	}
	if c.reference {
		return c.besideReference()
	}
	return advice(c.converse())
}

// check tells what is wrong with what was asked.
func (c *talk) check() error {
	switch {
	case c.kernels != "own" && c.kernels != "given" && c.kernels != "go":
		return fmt.Errorf("-kernels %s: want own, given or go", c.kernels)
	case c.cache != "" && c.kernels != "go":
		return errors.New("CACHE goes with KERNELS=go: the kernels of tasks 5 and 6 keep float32")
	case c.choices.model == "":
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
	d, err := openDevice(c.device)
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
	fmt.Fprintf(c.out, "on %s, with %s\n", d.Info().Name, about)
	if err := c.warm(m, d, show); err != nil {
		closed()
		return nil, nil, err
	}
	return s, closed, nil
}

// on puts the model on a device.
func (c *talk) on(d *counting) (*chat.Session, *llama3.Model, string, error) {
	if d.Info().Kind == device.Sim {
		c.tokens, c.positions = cmp.Or(c.tokens, 100), cmp.Or(c.positions, 512)
	}
	c.tokens, c.positions = cmp.Or(c.tokens, 300), cmp.Or(c.positions, 2048)
	layer, k, about, err := c.parts(d)
	if err != nil {
		return nil, nil, "", err
	}
	var q device.Queue = d
	if d.Info().Kind == device.Sim {
		q, k.layers = device.QueueOf(d), k.layers.Alone() // no graph: the bar shows layer by layer how far a token is
	}
	w, err := c.rounded()
	if err != nil {
		return nil, nil, "", err
	}
	m, err := llama3.NewModel(q, k.layers, w, llama3.Room{Positions: c.positions, Grouped: c.kernels == "given"}, layer, k.own)
	if err != nil {
		return nil, nil, "", err
	}
	return c.over(m), m, about, nil
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
		fmt.Fprintln(c.out, "In the simulator, without its checks, which belong to make grade.")
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
		fmt.Fprintf(c.out, "A token takes %s here; a GPU needs milliseconds.\n", short(time.Since(began)))
	}
	return m.Reset()
}

// converse answers one question, or all that are typed.
func (c *talk) converse() error {
	show := &bar{to: c.out, on: c.watched}
	s, closed, err := c.session(show)
	if err != nil {
		return err
	}
	defer closed()
	if c.once {
		fmt.Fprintf(c.out, "\nyou: %s\n", strings.ToValidUTF8(c.prompt, "\ufffd"))
		return c.answer(s, show, c.prompt)
	}
	fmt.Fprintln(c.out, "Type a question; Ctrl-D ends the conversation.")
	lines := bufio.NewScanner(c.in)
	lines.Buffer(nil, 1<<20)
	for {
		fmt.Fprint(c.out, "\nyou: ")
		if !lines.Scan() {
			fmt.Fprintln(c.out)
			return lines.Err()
		}
		if !c.watched { // nobody has typed it there
			fmt.Fprintln(c.out, strings.ToValidUTF8(lines.Text(), "\ufffd"))
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
		fmt.Fprint(c.out, "model: ")
	}
	s.Read = func(int, int) { show.clear() }
	text := c.model.Tokenizer.Stream(safe{c.out})
	a, err := s.Say(question, func(token int32) error {
		show.clear()
		return text.Token(token)
	})
	show.clear()
	_ = text.Close()
	fmt.Fprintln(c.out)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.out, told(a))
	return nil
}

// told says how long an answer took.
func told(a chat.Answer) string {
	text := fmt.Sprintf("(%d tokens read, the first one of the answer after %s", a.Read, short(a.First))
	if n := len(a.Each); n > 0 {
		var sum time.Duration
		for _, one := range a.Each {
			sum += one
		}
		text += fmt.Sprintf(", then %s a token", short(sum/time.Duration(n)))
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
