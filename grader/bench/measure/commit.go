package measure

import (
	"context"
	"os/exec"
	"strings"
)

// commit names what was measured.
func (b Options) commit(ctx context.Context) string {
	if b.Commit != "" {
		return b.Commit
	}
	git := func(args ...string) string {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = b.Root
		out, err := cmd.Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	commit := git("rev-parse", "--short=12", "HEAD")
	if commit != "" && git("status", "--porcelain", "--untracked-files=no") != "" {
		commit += ", with changes"
	}
	return commit
}
