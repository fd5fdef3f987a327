package measure

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"flashlab/grader/bench/page"
)

// commit names what was measured.
func (b Options) commit(ctx context.Context) string {
	if b.Commit != "" {
		return b.Commit
	}
	commit := git(ctx, b.Root, "rev-parse", "--short=12", "HEAD")
	if commit != "" && git(ctx, b.Root, "status", "--porcelain", "--untracked-files=no") != "" {
		commit += ", with changes"
	}
	return commit
}

func git(ctx context.Context, root string, args ...string) string {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(out), "\n")
}

// digits are how many of a commit's hash name it on a page.
const digits = 12

var hash = regexp.MustCompile(`^[0-9a-f]{12,40}$`)

// PageCommit is the commit that a page is made of. A tree with changes has none; neither has one that git does not know,
// unless `given` names it, as `git describe --always --abbrev=40 --dirty --exclude '*'` does where the tree comes from.
func PageCommit(ctx context.Context, root, given string) (string, error) {
	if given != "" && !hash.MatchString(given) {
		return "", fmt.Errorf("COMMIT=%s: want the hash of a commit, 12 to 40 hexadecimal digits", given)
	}
	head := ""
	if top := git(ctx, root, "rev-parse", "--show-toplevel"); top != "" && same(top, root) {
		head = git(ctx, root, "rev-parse", "HEAD")
	}
	switch {
	case head == "" && given == "":
		return "", fmt.Errorf("git finds no commit for %s: name it with COMMIT=hash", root)
	case head == "":
		return given[:digits], nil
	case !strings.HasPrefix(head, given):
		return "", fmt.Errorf("COMMIT=%s: the commit here is %s", given, head[:digits])
	}
	if changed := changes(git(ctx, root, "status", "--porcelain")); len(changed) > 0 {
		return "", fmt.Errorf("the page is timed at a commit, but the tree here has changes: commit or remove %s first", few(changed))
	}
	return head[:digits], nil
}

// changes are the files that git's status names, but for those that this command writes.
func changes(status string) (all []string) {
	for line := range strings.Lines(status) {
		if line = strings.TrimRight(line, "\n"); len(line) > 3 && !slices.Contains(page.Files(), strings.TrimPrefix(line[3:], "docs/")) {
			all = append(all, line[3:])
		}
	}
	return all
}

func few(names []string) string {
	if len(names) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names, ", ")
}

// same tells whether two paths are one folder.
func same(a, b string) bool {
	a, failedA := filepath.EvalSymlinks(a)
	b, failedB := filepath.EvalSymlinks(b)
	return failedA == nil && failedB == nil && a == b
}
