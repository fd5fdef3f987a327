package supervise

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"

	"flashlab/grader/grading/wire"
	"flashlab/grader/tasks/registry"
)

var (
	crashLine = regexp.MustCompile(`(?m)^(panic: .*|fatal error: .*|runtime: .*exceeds .* limit)$`)
	crashSite = regexp.MustCompile(`(?m)^flashlab/([a-z0-9_/]+)\.[^\n]*\n\t(\S+\.go):(\d+)`)
)

// lastWords says in a sentence how a worker ended. What it printed is only ever
// shown, never believed.
func lastWords(printed string, state *os.ProcessState, cause error) (text, where string) {
	for _, m := range crashSite.FindAllStringSubmatch(printed, -1) {
		if t, err := registry.All.Find(m[1]); err == nil { // the first place in a task's own package
			where = t.Dir + "/" + path.Base(m[2]) + ":" + m[3]
			break
		}
	}
	if m := crashLine.FindString(printed); m != "" {
		return "the program crashed: " + wire.Cut(m, 500), where
	}
	switch {
	case state == nil:
		return fmt.Sprintf("the program was stopped: %v", cause), where
	case state.Success():
		return "the program ended on its own, with exit code 0, before it had answered", where
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
