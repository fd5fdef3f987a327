package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device/trace"
	"flashlab/grader/grading/verdict"
)

// print is a print of the given thread of block (1,0,0).
func print(thread int, text string) trace.Print {
	return trace.Print{Kernel: "softmax", Block: [3]int{1, 0, 0}, Thread: [3]int{thread, 0, 0}, Text: text}
}

func printing() verdict.Check {
	return verdict.Check{ID: "softmax", Cases: []verdict.Outcome{
		{Name: "quiet"},
		{Name: "a", Printed: "hello\n", Prints: []trace.Print{print(3, "sum "), print(3, "is 1\n"), print(4, "two\nlines\x1b[2J")}},
		{Name: "b", Printed: "again"},
	}}
}

func TestPrintsAreShownByThread(t *testing.T) {
	lines := printLines(verdict.Verdict{}, printing())
	assert.Equal(t, []string{
		"printed in softmax/a:",
		"  hello",
		"  softmax, block (1,0,0), thread (3,0,0): sum is 1",
		"  softmax, block (1,0,0), thread (4,0,0): two",
		"  softmax, block (1,0,0), thread (4,0,0): lines⟨U+001B⟩[2J",
		"  1 other case printed too: CASE=… shows what one prints",
	}, lines)
	assert.Empty(t, printLines(verdict.Verdict{}, verdict.Check{Cases: []verdict.Outcome{{Name: "quiet"}}}))
}

func TestAFloodIsCutShort(t *testing.T) {
	c := verdict.Check{ID: "softmax", Cases: []verdict.Outcome{{Name: "a", Printed: strings.Repeat("line\n", 1000)}}}
	lines := printLines(verdict.Verdict{}, c)
	assert.Len(t, lines, 2+fewPrints)
	assert.Contains(t, lines[len(lines)-1], "CASE=softmax/a")
	lines = printLines(verdict.Verdict{One: true}, c)
	assert.Len(t, lines, 2+allPrints)
	assert.Equal(t, "  … and more", lines[len(lines)-1])
	c.Cases[0].Prints, c.Cases[0].CutOff = []trace.Print{print(3, "x")}, true
	lines = printLines(verdict.Verdict{One: true}, c)
	assert.Contains(t, lines[len(lines)-1], "THREAD=0,0,0")
}

func TestACrashIsNoPrint(t *testing.T) {
	c := verdict.Check{ID: "softmax", Cases: []verdict.Outcome{{Name: "a", Printed: "before\npanic: oh\n\ngoroutine 1 [running]:\nmain.main()\n"}}}
	assert.Equal(t, []string{"printed in softmax/a:", "  before"}, printLines(verdict.Verdict{}, c))
}

func TestASilentThreadIsNamed(t *testing.T) {
	v := verdict.Verdict{One: true, Shown: "thread (9,0,0)"}
	lines := printLines(v, verdict.Check{ID: "softmax", Cases: []verdict.Outcome{{Name: "b", Printed: "again"}}})
	assert.Contains(t, lines, "No kernel printed anything in thread (9,0,0).")
}
