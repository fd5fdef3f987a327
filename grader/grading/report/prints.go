package report

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"flashlab/grader/grading/verdict"
	"flashlab/internal/harmless"
)

// Lines of a case's prints that are shown: of one among many, and of the only one.
const (
	fewPrints = 10
	allPrints = 500
)

// prints shows what a check's cases printed: the first case that did, or all of
// the one that was asked for.
func (p Printer) prints(v verdict.Verdict, c verdict.Check) {
	for _, l := range printLines(v, c) {
		head, ok := strings.CutPrefix(l, "printed in ")
		if ok {
			l = "\n" + p.colour("printed in "+head, text.Bold)
		}
		fmt.Fprintln(p.W, l)
	}
}

// printLines are the same, plain.
func printLines(v verdict.Verdict, c verdict.Check) []string {
	most := fewPrints
	if v.One {
		most = allPrints
	}
	var lines []string
	others := 0
	silent := v.Shown != ""
	for _, k := range c.Cases {
		all := ofCase(k)
		silent = silent && len(k.Prints) == 0
		switch {
		case len(all) == 0:
			continue
		case lines != nil:
			others++
			continue
		}
		lines = []string{fmt.Sprintf("printed in %s/%s:", c.ID, k.Name)}
		for _, l := range all[:min(len(all), most)] {
			lines = append(lines, "  "+l)
		}
		switch {
		case len(all) <= most && !k.CutOff:
		case v.One && len(k.Prints) == 0:
			lines = append(lines, "  … and more")
		case v.One:
			lines = append(lines, "  … and more: THREAD=0,0,0 BLOCK=0,0,0, say, shows one thread's printf only")
		case len(k.Prints) == 0:
			lines = append(lines, fmt.Sprintf("  … and more: CASE=%s/%s shows it", c.ID, k.Name))
		default:
			lines = append(lines, fmt.Sprintf("  … and more: CASE=%s/%s shows it, with THREAD=0,0,0, say, of one thread only", c.ID, k.Name))
		}
	}
	if others > 0 {
		noun := "cases"
		if others == 1 {
			noun = "case"
		}
		lines = append(lines, fmt.Sprintf("  %d other %s printed too: CASE=… shows what one prints", others, noun))
	}
	if silent {
		lines = append(lines, "", "No kernel printed anything in "+v.Shown+".")
	}
	return lines
}

// crash is where Go's own crash report begins. The case's reason sums it up; the whole
// report is in results-full.json.
var crash = regexp.MustCompile(`(?m)^(panic: |fatal error: |runtime: goroutine stack exceeds)`)

// ofCase are the lines that one case printed: the program's, then its kernels'.
func ofCase(k verdict.Outcome) []string {
	printed := k.Printed
	if at := crash.FindStringIndex(printed); at != nil {
		printed = printed[:at[0]]
	}
	lines := splitLines(printed)
	open := "" // the head of a line that is not complete
	for _, one := range k.Prints {
		head := fmt.Sprintf("%s, block %s, thread %s: ", one.Kernel, triple(one.Block), triple(one.Thread))
		for i, l := range splitLines(one.Text) {
			if i == 0 && open == head {
				lines[len(lines)-1] += l
				continue
			}
			lines = append(lines, head+l)
		}
		if open = head; strings.HasSuffix(one.Text, "\n") {
			open = ""
		}
	}
	return lines
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(harmless.Text(s), "\n"), "\n")
}

func triple(t [3]int) string { return fmt.Sprintf("(%d,%d,%d)", t[0], t[1], t[2]) }
