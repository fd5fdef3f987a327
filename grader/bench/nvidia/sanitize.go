package nvidia

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"flashlab/device/trace"
	"flashlab/grader/grading/run"
)

// toolTime bounds one tool.
const toolTime = 10 * time.Minute

// Sanitized is what one of compute-sanitizer's tools said.
type Sanitized struct {
	Found []trace.Finding
	Took  time.Duration
	Log   string // the file with its own output
}

// Sanitize runs one tool around the worker; help is what compute-sanitizer -help prints.
func Sanitize(ctx context.Context, path, tool, help, dir string, it *run.Watched) (s Sanitized, err error) {
	limited, stop := context.WithTimeout(ctx, toolTime)
	defer stop()
	s.Log = filepath.Join(dir, tool+".log")
	printed := filepath.Join(dir, tool+".out")
	_ = os.Remove(s.Log)
	began := time.Now()
	code, err := start(limited, path, SanitizerArgs(tool, help, s.Log), it, printed)
	if limited.Err() != nil && ctx.Err() == nil {
		return s, fmt.Errorf("not done within %v: CASE= picks one case", toolTime)
	}
	if err != nil {
		return s, err
	}
	text, err := os.ReadFile(s.Log)
	if err != nil || !strings.Contains(string(text), "=========") {
		words, _ := os.ReadFile(printed)
		return s, fmt.Errorf("compute-sanitizer did not run (exit code %d): %s", code, last(string(words), 5))
	}
	s.Found, s.Took = Findings(tool, string(text), it.Files), time.Since(began)
	return s, nil
}

// last takes the last n lines.
func last(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
