package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"flashlab/device"
	"flashlab/device/corpus"
	"flashlab/device/sim"
	"flashlab/device/trace"
)

const notMeasured = "not measured"

// hopper prints, class by class, what the simulator finds of each of Hopper's bugs.
// With dir, what its logs say of them on a GPU stands beside it.
func hopper(w io.Writer, bugs []corpus.Bug, dir string) error {
	d, err := sim.Start(corpus.SimOptions())
	if err != nil {
		return err
	}
	defer d.Close()
	r := corpus.NewRunner(d)
	for _, class := range classes(bugs) {
		fmt.Fprintf(w, "## %s%s\n\n", strings.ToUpper(class[:1]), class[1:])
		titles := []string{"bug", "twin", "simulator", "lines"}
		if dir != "" {
			titles = append(append(titles, tools...), "result")
		}
		fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(titles, " | "), strings.Repeat(" --- |", len(titles)))
		for _, b := range bugs {
			if b.Class != class {
				continue
			}
			found, launched, err := corpus.Simulate(d, r, b, false)
			if launched != nil && !errors.Is(launched, device.ErrFault) {
				err = launched
			}
			if err != nil {
				return fmt.Errorf("%s: %w", b.Name, err)
			}
			there, err := onGPU(b, dir)
			if err != nil {
				return err
			}
			fmt.Fprintln(w, simulated(b, found)+there)
		}
		fmt.Fprintln(w)
	}
	return nil
}

// onGPU is the part of a bug's row that dir's logs fill.
func onGPU(b corpus.Bug, dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	var cells strings.Builder
	for _, tool := range tools {
		verdict, err := verdictOf(dir, b.Name, tool)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&cells, " %s |", verdict)
	}
	result, err := resultOf(dir, b)
	fmt.Fprintf(&cells, " %s |", result)
	return cells.String(), err
}

// classes lists the classes of Hopper's bugs, in the order of the bugs.
func classes(bugs []corpus.Bug) []string {
	var all []string
	for _, b := range bugs {
		if b.Class != "" && !slices.Contains(all, b.Class) {
			all = append(all, b.Class)
		}
	}
	return all
}

// simulated is the part of a bug's row that the simulator fills.
func simulated(b corpus.Bug, found []trace.Finding) string {
	verdict, lines := "nothing", "-"
	if i := slices.IndexFunc(found, b.FoundBy); i >= 0 {
		verdict, lines = found[i].Kind, places(found[i])
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", b.Name, b.Twin(), verdict, lines)
}

var mentioned = regexp.MustCompile(`(?:\bline |\.cu:)(\d+)`)

// places are the lines that a finding names: its own, then those of its message and notes.
func places(f trace.Finding) string {
	lines := []int{f.Line}
	for _, text := range append([]string{f.Message}, f.Notes...) {
		for _, m := range mentioned.FindAllStringSubmatch(text, -1) {
			if n, _ := strconv.Atoi(m[1]); !slices.Contains(lines, n) { // digits
				lines = append(lines, n)
			}
		}
	}
	text := fmt.Sprintf("%s:%d", path.Base(f.File), lines[0])
	for _, n := range lines[1:] {
		text += fmt.Sprintf(", %d", n)
	}
	return text
}

// verdictOf is what a tool said of a kernel.
func verdictOf(dir, name, tool string) (string, error) {
	v, err := readLog(dir, name, tool)
	switch {
	case err != nil:
		return "", err
	case v.state == "no log":
		return notMeasured, nil
	case len(v.complaints) == 0 && v.state != "ran":
		return v.state, nil
	}
	return strings.ReplaceAll(words(v.complaints), tool+": ", ""), nil
}

// resultOf is what `runbug -result` said: how often a bug's numbers were not its twin's.
func resultOf(dir string, b corpus.Bug) (string, error) {
	if b.Apart {
		return "not comparable", nil
	}
	v, err := readLog(dir, b.Name, "result")
	if err != nil || v.state == "no log" {
		return notMeasured, err
	}
	text, err := os.ReadFile(filepath.Join(dir, b.Name+".result.log"))
	for line := range strings.Lines(string(text)) {
		if verdict, ok := strings.CutPrefix(strings.TrimSpace(line), "result: "); ok {
			return verdict, err
		}
	}
	return v.state, err
}
