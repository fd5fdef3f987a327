// Package jail says what is asked of a sandbox by code that starts a program with a
// stranger's code in it. It contains no sandbox itself: those are in grader/sandbox,
// and the devices below it need only this package.
package jail

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// Program is a program, and all of the machine that it needs.
type Program struct {
	Path string
	Args []string
	Env  []string // all of its environment
	Dir  string   // where it starts: of Read or Write, or "" for /tmp

	Read  []string   // files and folders that it may read, at their own paths
	Write []string   // folders that it may change
	Files []*os.File // its descriptors from 3 on, MaxFiles at most; it inherits no others
	GPU   bool       // it drives the GPU

	Groups    []string      // folders of control groups that it joins; where none is named, it gets one
	Memory    int64         // bytes; 0 is the sandbox's own limit, as for those that follow
	CPU       time.Duration // of each of its processes
	FileSize  int64         // bytes of each file that it writes
	Processes int           // threads among them
}

// MaxFiles is how many descriptors a program may be given.
const MaxFiles = 5

// Error is a sandbox that did not start: its program has not run, and the fault is
// ours, never the submission's.
type Error struct{ Text string }

func (e *Error) Error() string { return "the sandbox did not start: " + e.Text }

// SignFD is where a sandbox writes one byte when all of it is there and the program is the
// next thing to run. The program itself does not get this descriptor.
const SignFD = 3 + MaxFiles

// Failed looks whether a command's sandbox failed to start, given what was printed; nil if
// not. Whoever prints the same later is the program itself.
func Failed(cmd *exec.Cmd, printed string) error {
	if !failure.MatchString(printed) || up(cmd) {
		return nil
	}
	return &Error{plain(strings.TrimSpace(printed))}
}

func up(cmd *exec.Cmd) bool {
	const at = SignFD - 3
	if cmd == nil || len(cmd.ExtraFiles) <= at || cmd.ExtraFiles[at] == nil {
		return false
	}
	n, _ := cmd.ExtraFiles[at].ReadAt(make([]byte, 1), 0)
	return n == 1
}

// plain is a text without what moves a terminal's cursor.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

var failure = regexp.MustCompile(`^(sandbox|bwrap|prlimit|setpriv): `)

// CommandFunc makes the command that runs a program shut off from the machine. Its
// standard streams are the caller's to set; ExtraFiles and SysProcAttr are not.
type CommandFunc func(context.Context, Program) (*exec.Cmd, error)
