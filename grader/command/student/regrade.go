package student

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/command"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/cache"
	"flashlab/internal/harmless"
)

// Regrade asks the instructor to look at a result once more: it adds a request to regrade.toml, which make pack packs.
var Regrade = command.Command{Name: "regrade", Summary: "ask for a result to be looked at once more", Usage: "TASK=2",
	Define: func(f *flag.FlagSet) command.Run {
		task := f.String("task", "", aboutTask)
		only := f.String("case", "", "what it is about: a check, as `softmax`, or one case of it, as softmax/17x113")
		receipt := f.String("receipt", "", "of the hand-in that it is about, from your feedback, `ab12 cd34 ef56`; that of your files as they are, without it")
		reason := f.String("reason", "", "what is wrong with the result, in a `sentence`; without it, write it into the file")
		return func([]string) (int, error) {
			root, t, err := findOne("regrade", *task, "make regrade TASK=2 CASE=softmax/17x113")
			if err != nil {
				return command.Failed, err
			}
			r, err := requestOf(t, *only)
			if err != nil {
				return command.Failed, err
			}
			if r.Receipt = *receipt; r.Receipt == "" {
				if r.Receipt, err = receiptHere(root); err != nil {
					return command.Failed, err
				}
			}
			r.Reason = *reason
			return ask(root, r)
		}
	}}

// requestOf finds what CASE names among a task's checks and the cases that students know.
func requestOf(t *rubric.Task, only string) (handin.Request, error) {
	check, name, one := strings.Cut(only, "/")
	at := slices.IndexFunc(t.Checks, func(c rubric.Check) bool { return c.ID == check })
	if at < 0 {
		var ids []string
		for _, c := range t.Checks {
			ids = append(ids, c.ID)
		}
		return handin.Request{}, fmt.Errorf("regrade: task %s has no check %q: CASE is one of %s, or one with a case behind it, as %s/…", t.Name, check, strings.Join(ids, ", "), ids[0])
	}
	if one && !slices.ContainsFunc(t.Checks[at].Cases, func(k rubric.Case) bool { return k.Name == name && !k.Hidden }) {
		return handin.Request{}, fmt.Errorf("regrade: %s has no case %q: take its name from the feedback or from make grade TASK=%s", check, name, t.Name)
	}
	return handin.Request{Task: t.Name, Check: check, Case: name}, nil
}

// receiptHere is what make pack would print.
func receiptHere(root string) (string, error) {
	_, tasks, err := find("")
	if err != nil {
		return "", err
	}
	_, bonus, err := find(registry.Bonus)
	if err != nil {
		return "", err
	}
	files, _ := handin.Files(root, append(tasks, begunOf(root, bonus)...))
	return handin.Sum(files).Short(), nil
}

// begunOf are those of the bonus tasks that somebody worked on: they are optional.
func begunOf(root string, bonus []*rubric.Task) (begun []*rubric.Task) {
	for _, t := range bonus {
		if stub, err := unbegun(root, t, nil); err == nil && stub == "" {
			begun = append(begun, t)
		}
	}
	return begun
}

func ask(root string, r handin.Request) (int, error) {
	name := filepath.Join(root, handin.RegradeFile)
	file, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return command.Failed, err
	}
	if err := cache.WriteFile(name, handin.AddRequest(file, r), 0o644); err != nil {
		return command.Failed, err
	}
	harmless.Printf("Asked: %s, of the hand-in with receipt %s (%s)\n", r.What(), r.Receipt, shown(root, name))
	if r.Reason == "" {
		fmt.Printf("Now write into that file what is wrong with the result, and why. Then make pack, and hand the zip in.\n")
		return command.Full, nil
	}
	fmt.Println("Now make pack, and hand the zip in. The answer will be in your feedback.")
	return command.Full, nil
}
