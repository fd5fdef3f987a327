package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device/sim"
	"flashlab/grader/score"
)

// print is a print of the given thread of block (1,0,0).
func print(thread int, text string) sim.Print {
	return sim.Print{Kernel: "softmax", Block: [3]int{1, 0, 0}, Thread: [3]int{thread, 0, 0}, Text: text}
}

func printing() score.Check {
	return score.Check{ID: "softmax", Cases: []score.Case{
		{Name: "quiet"},
		{Name: "a", Printed: "hello\n", Prints: []sim.Print{print(3, "sum "), print(3, "is 1\n"), print(4, "two\nlines\x1b[2J")}},
		{Name: "b", Printed: "again"},
	}}
}

func TestPrintsAreShownByThread(t *testing.T) {
	lines := printLines(score.Verdict{}, printing())
	assert.Equal(t, []string{
		"printed in softmax/a:",
		"  hello",
		"  softmax, block (1,0,0), thread (3,0,0): sum is 1",
		"  softmax, block (1,0,0), thread (4,0,0): two",
		"  softmax, block (1,0,0), thread (4,0,0): lines?[2J",
		"  1 other case printed too: CASE=… shows what one prints",
	}, lines)
	assert.Empty(t, printLines(score.Verdict{}, score.Check{Cases: []score.Case{{Name: "quiet"}}}))
}

func TestAFloodIsCutShort(t *testing.T) {
	c := score.Check{ID: "softmax", Cases: []score.Case{{Name: "a", Printed: strings.Repeat("line\n", 1000)}}}
	lines := printLines(score.Verdict{}, c)
	assert.Len(t, lines, 2+fewPrints)
	assert.Contains(t, lines[len(lines)-1], "CASE=softmax/a")
	lines = printLines(score.Verdict{One: true}, c)
	assert.Len(t, lines, 2+allPrints)
	assert.Equal(t, "  … and more", lines[len(lines)-1])
	c.Cases[0].Prints, c.Cases[0].CutOff = []sim.Print{print(3, "x")}, true
	lines = printLines(score.Verdict{One: true}, c)
	assert.Contains(t, lines[len(lines)-1], "THREAD=0,0,0")
}

func TestACrashIsNoPrint(t *testing.T) {
	c := score.Check{ID: "softmax", Cases: []score.Case{{Name: "a", Printed: "before\npanic: oh\n\ngoroutine 1 [running]:\nmain.main()\n"}}}
	assert.Equal(t, []string{"printed in softmax/a:", "  before"}, printLines(score.Verdict{}, c))
}

func TestASilentThreadIsNamed(t *testing.T) {
	v := score.Verdict{One: true, Shown: "thread (9,0,0)"}
	lines := printLines(v, score.Check{ID: "softmax", Cases: []score.Case{{Name: "b", Printed: "again"}}})
	assert.Contains(t, lines, "No kernel printed anything in thread (9,0,0).")
}
