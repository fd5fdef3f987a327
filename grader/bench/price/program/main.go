// Command program measures what formats cost a model; `grader price` builds and starts it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"flashlab/grader/bench/price"
	"flashlab/grader/bench/price/asked"
	"flashlab/grader/grading/report"
	"flashlab/nn/chat"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "price: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, to io.Writer) error {
	f := flag.NewFlagSet("price", flag.ContinueOnError)
	count := func(name string, usual int) *int { return f.Int(name, usual, asked.Flags.Of(name)) }
	windows, length, shown, questions := count("windows", 6), count("length", 128), count("shown", 32), count("questions", 16)
	beginning := f.String("begin", "", asked.Flags.Of("begin"))
	resume := f.Bool("resume", false, asked.Flags.Of("resume"))
	model := f.String("model", "", "GGUF `file`, or folder")
	text := f.String("text", "", "`file` of text, or .jsonl of passages")
	about := f.String("about", "", "where the text is from")
	mmlu := f.String("mmlu", "", "`file` of lm-eval's examples")
	out := f.String("out", "out", "`folder` for price.json")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *windows < 1 || *length < 2 || *shown < 0 || *questions < 0 {
		return fmt.Errorf("WINDOWS=%d LENGTH=%d SHOWN=%d QUESTIONS=%d: want at least 1 window, 2 tokens, and no negative number", *windows, *length, *shown, *questions)
	}
	m, err := chat.Open(*model)
	if err != nil {
		return err
	}
	defer m.Close()
	c := m.Config()
	if *length > c.Positions {
		return fmt.Errorf("LENGTH=%d: the model has %d positions", *length, c.Positions)
	}
	begin := c.Begin
	if *beginning != "" {
		var is bool
		if begin, is = m.Tokenizer.Special(*beginning); !is {
			return fmt.Errorf("BEGIN=%s is no special token of this model's", *beginning)
		}
	}
	passages, err := price.Passages(*text)
	if err != nil {
		return err
	}
	pieces := price.Pieces(m.Tokenizer, passages, *length, begin)
	if len(pieces) < *windows {
		return fmt.Errorf("the text has %d pieces of %d tokens, and WINDOWS asks for %d: a longer text, or less of either", len(pieces), *length, *windows)
	}
	work := price.Work{Windows: pieces[:*windows], Begin: begin}
	rest := pieces[*windows:]
	work.Shown = rest[max(0, len(rest)-*shown):] // from the other end: the text's other passages, if it has several
	if *questions > 0 && *mmlu != "" {
		if work.Questions, err = price.Questions(*mmlu); err != nil {
			return err
		}
		work.Questions = work.Questions[:min(*questions, len(work.Questions))]
	}
	l := price.List{Model: c.String(), Weights: filepath.Base(m.About()), Text: *about, Length: *length, Shown: len(work.Shown), Begun: begin >= 0, Begin: *beginning,
		Windows: len(work.Windows), Asked: len(work.Questions)}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	file := filepath.Join(*out, "price.json")
	if *resume {
		if work.Known, err = l.Known(file); err != nil {
			return err
		}
	}
	if err := measure(m, work, &l, to, file); err != nil {
		return err
	}
	fmt.Fprintln(to)
	if err := l.Table(to); err != nil {
		return err
	}
	fmt.Fprintln(to, "\nWritten:", file)
	return nil
}

// measure shows how far it is: in a terminal with a bar, and with a line for each format that is done. What has been
// measured by then is in the file.
func measure(m *chat.Model, work price.Work, l *price.List, to io.Writer, file string) (err error) {
	var unwritten error
	all := len(price.Formats)
	say := func(line string) { fmt.Fprintln(to, line) }
	update := func(int) {}
	if report.Width() > 0 {
		bar := report.NewBar(to, price.Formats[0].Name, true)
		defer bar.Stop()
		say = bar.Log
		update = func(done int) { bar.Update(done, all, price.Formats[min(done, all-1)].Name) }
		update(0)
	}
	done := 0
	_, err = price.Measure(m, m.Tokenizer, price.Formats, work, func(r price.Row) {
		done++
		l.Rows = append(l.Rows, r)
		unwritten = l.Write(file)
		how := "measured"
		if r.Failed != "" {
			how = "failed"
		}
		say(fmt.Sprintf("%2d of %d: %s %s in %v", done, all, r.Name, how, time.Duration(r.Seconds*float64(time.Second)).Round(time.Second)))
		update(done)
	})
	return errors.Join(err, unwritten)
}
