package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"flashlab/grader/grading/cgroup"
	"flashlab/internal/cache"
	"flashlab/internal/jail"
)

// probeBubblewrap tries bubblewrap with the options of its newer versions, then
// with those of older ones: it trusts what works, not versions.
func probeBubblewrap() (*Box, error) {
	if runtime.GOARCH != "amd64" || runtime.GOOS != "linux" {
		return nil, errors.New("the sandbox is for x86-64 Linux")
	}
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, errors.New("bubblewrap is not installed: 'apt-get install bubblewrap' on Debian and Ubuntu, 'dnf install bubblewrap' on Fedora")
	}
	prlimit, err := exec.LookPath("prlimit")
	if err != nil {
		return nil, errors.New("prlimit is not installed: it belongs to util-linux")
	}
	filter, err := writeFilter(true)
	if err != nil {
		return nil, err
	}
	setpriv, unshare, temps := "", "", []string(nil)
	if root() {
		if setpriv, err = exec.LookPath("setpriv"); err != nil {
			return nil, errors.New("we are root, and setpriv is not installed: it belongs to util-linux")
		}
		syscall.Umask(0o022) // whom a program becomes must be able to read what we build
		if temps, err = mountPoints(); err != nil {
			return nil, err
		}
		unshare, _ = exec.LookPath("unshare")
	}
	var last error
	all := []bubblewrap{{path: path, prlimit: prlimit, setpriv: setpriv, sizes: true, userns: true}, {path: path, prlimit: prlimit, setpriv: setpriv, sizes: true}, {path: path, prlimit: prlimit, setpriv: setpriv}}
	if unshare != "" {
		all = append([]bubblewrap{{path: path, prlimit: prlimit, setpriv: setpriv, unshare: unshare, temps: temps, sizes: true, userns: true}}, all...)
	}
	for _, b := range all {
		box := &Box{Name: version(path), command: func(ctx context.Context, p jail.Program) *exec.Cmd { return b.command(ctx, p, filter) }}
		if last = box.try(); last == nil {
			box.notHeld = b.notHeld()
			if b.unshare == "" {
				box.lets = []string{"a file for every inode"}
			}
			return box, nil
		}
	}
	return nil, fmt.Errorf("it does not run here: %w. Some systems allow no user namespaces to ordinary users: "+
		"Ubuntu 24.04 wants an AppArmor profile for bwrap, a container the option --security-opt seccomp=unconfined or the like", last)
}

// mountPoints are two empty folders of ours.
func mountPoints() ([]string, error) {
	dir, err := cache.Dir()
	if err != nil {
		return nil, err
	}
	names := []string{filepath.Join(dir, "mount-tmp"), filepath.Join(dir, "mount-shm")}
	for _, name := range names {
		if err := os.MkdirAll(name, 0o755); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func version(bwrap string) string {
	out, err := exec.Command(bwrap, "--version").Output()
	if err != nil {
		return "bubblewrap"
	}
	return strings.TrimSpace(string(out))
}

// try runs something that does nothing.
func (b *Box) try() error {
	defer b.Close()
	cmd, err := b.Command(context.Background(), jail.Program{Path: "/bin/true", CPU: 10 * time.Second})
	if err != nil {
		return err
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// notHeld looks at what else the machine provides.
func (b bubblewrap) notHeld() []string {
	lets := []string{
		"Faults of the Linux kernel itself: the program runs on the same kernel as everything else.",
		"What can be learnt by timing from other programs on the machine.",
	}
	g := cgroup.New(cgroup.Limits{Memory: 1 << 30, Processes: 100})
	defer g.Remove()
	if g == nil || !g.Memory {
		lets = append(lets, "Memory taken faster than it is looked at, every 20 ms: no control group can be made here.")
	}
	if b.unshare == "" {
		lets = append(lets, "How many files are made in /tmp, up to what its control group has of memory: only root can bound it.")
	}
	if !b.sizes {
		lets = append(lets, "How much is written to /tmp: this bubblewrap bounds it by half of the memory only.")
	}
	return lets
}
