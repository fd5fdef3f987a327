package host

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"

	"flashlab/grader/wire"
)

// capped keeps the first bytes that are written to it, and drops the rest: a
// worker may print as much as it likes.
type capped struct {
	mu      sync.Mutex
	room    int
	kept    bytes.Buffer
	dropped int64
}

func (c *capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	keep := min(len(p), c.room-c.kept.Len())
	c.kept.Write(p[:keep])
	c.dropped += int64(len(p) - keep)
	return len(p), nil
}

func (c *capped) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := strings.ToValidUTF8(c.kept.String(), "?")
	if c.dropped > 0 {
		text += fmt.Sprintf("\n… (%d more bytes)", c.dropped)
	}
	return text
}

var (
	crashLine = regexp.MustCompile(`(?m)^(panic: .*|fatal error: .*|runtime: .*exceeds .* limit)$`)
	crashSite = regexp.MustCompile(`(?m)^flashlab/(task[1-9]_[a-z0-9_]+)\.[^\n]*\n\t(\S+\.go):(\d+)`)
)

// lastWords makes a sentence of how a worker ended. What it printed is only
// ever shown, never believed.
func lastWords(printed string, state *os.ProcessState, cause error) (text, where string) {
	if m := crashSite.FindStringSubmatch(printed); m != nil {
		where = m[1] + "/" + path.Base(m[2]) + ":" + m[3]
	}
	if m := crashLine.FindString(printed); m != "" {
		return "the program crashed: " + wire.Cut(m, 500), where
	}
	switch {
	case state == nil:
		return fmt.Sprintf("the program was stopped: %v", cause), where
	case state.Success():
		return "the program ended by itself, with exit code 0, before it had answered", where
	case state.ExitCode() > 0:
		return fmt.Sprintf("the program ended with exit code %d before it had answered%s", state.ExitCode(), saying(printed)), where
	}
	return fmt.Sprintf("the program broke off (%v): %v", state, cause), where
}

func saying(printed string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(printed), "\n")
	if first == "" {
		return ""
	}
	return "; it printed: " + wire.Cut(first, 300)
}
