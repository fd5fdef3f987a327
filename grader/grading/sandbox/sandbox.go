// Package sandbox runs a stranger's code where it can do no harm: workers, the
// simulator with their kernels in it, and the compilers that read their files.
//
// Each back end says itself what it does not hold: see Box.NotHeld, and
// docs/threats.md.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"flashlab/grader/grading/cgroup"
	"flashlab/internal/cache"
	"flashlab/internal/jail"
)

// Box is a sandbox that works on this machine: it was tried.
type Box struct {
	Name string // "bubblewrap 0.8.0"

	command func(ctx context.Context, p jail.Program) *exec.Cmd
	end     func() // removes what programs have left
	notHeld []string
	lets    []string // attacks of the test's table that come through, for want of something on this machine

	mu     sync.Mutex
	groups []used
}

// used is a control group, and since when: a program joins it soon after.
type used struct {
	group *cgroup.Group
	since time.Time
}

// idle is for how long a group may be empty because its program has not begun yet.
const idle = 30 * time.Second

// Limits that a program has unless it asks for others.
const (
	defaultMemory   = 4 << 30
	defaultCPU      = time.Hour
	defaultFileSize = 256 << 20
)

// Command makes the command that runs a program in the sandbox: it is a
// jail.CommandFunc.
func (b *Box) Command(ctx context.Context, p jail.Program) (*exec.Cmd, error) {
	if len(p.Files) > jail.MaxFiles {
		return nil, fmt.Errorf("sandbox: %d descriptors are more than %d", len(p.Files), jail.MaxFiles)
	}
	for _, path := range slices.Concat(p.Read, p.Write) {
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("sandbox: %q is no absolute path", path)
		}
	}
	closeOnExec()
	p.Memory = cgroup.Affordable(orDefault(p.Memory, defaultMemory))
	p.CPU = orDefault(p.CPU, defaultCPU)
	p.FileSize = orDefault(p.FileSize, defaultFileSize)
	p.Processes = orDefault(p.Processes, cgroup.Threads())
	if len(p.Groups) == 0 {
		p.Groups = b.group(p)
	}
	cmd := b.command(ctx, p)
	if err := addSign(cmd, p.Files); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd, nil
}

func orDefault[T int | int64 | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}

// addSign gives a command its own descriptors and, behind them, that for jail.SignFD: memory
// that we read when the program is over.
func addSign(cmd *exec.Cmd, files []*os.File) error {
	fd, err := unix.MemfdCreate("sign", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	cmd.ExtraFiles = append(slices.Clone(files), make([]*os.File, jail.MaxFiles-len(files))...)
	cmd.ExtraFiles = append(cmd.ExtraFiles, os.NewFile(uintptr(fd), "sign"))
	return nil
}

// NotHeld says in sentences what this sandbox lets through.
func (b *Box) NotHeld() []string { return b.notHeld }

// group makes a control group, and removes those whose programs have ended.
func (b *Box) group(p jail.Program) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.groups = slices.DeleteFunc(b.groups, func(u used) bool { return time.Since(u.since) > idle && u.group.Gone() })
	g := cgroup.New(cgroup.Limits{Memory: p.Memory, Processes: p.Processes})
	if g != nil {
		b.groups = append(b.groups, used{g, time.Now()})
	}
	return g.Dirs()
}

// Close removes the last control groups.
func (b *Box) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end != nil {
		b.end()
	}
	for _, u := range b.groups {
		u.group.Remove()
	}
	b.groups = nil
}

// closeOnExec keeps us from handing on descriptors that we inherited ourselves, say from
// make, or that a library has opened since. Go does not hand on those that it opens, and
// a program gets a copy of those that it is given.
func closeOnExec() { _ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) }

// writeFilter puts the filter where a shell can open it.
func writeFilter(own bool) (string, error) {
	dir, err := cache.Dir()
	if err != nil {
		return "", err
	}
	program, err := filter(own)
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "seccomp-"+cache.Key(string(program))+".bpf")
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	return name, cache.WriteFile(name, program, 0o644)
}

// ErrNone says that no sandbox works here.
var ErrNone = errors.New("no sandbox works on this machine")

// Kinds are the sandboxes there are, the best first.
var Kinds = []string{"bwrap", "uid"}

// Probe finds the sandbox to use: "auto" for the best that works, or one by its
// name, "bwrap" or "uid".
func Probe(kind string) (*Box, error) {
	backends := map[string]func() (*Box, error){"bwrap": probeBubblewrap, "uid": probeSeparate}
	names := Kinds
	if kind != "auto" {
		if backends[kind] == nil {
			return nil, fmt.Errorf("no sandbox is called %q: want auto, %s", kind, strings.Join(names, " or "))
		}
		names = []string{kind}
	}
	var tried []string
	for _, name := range names {
		b, err := backends[name]()
		if err == nil {
			return b, nil
		}
		tried = append(tried, fmt.Sprintf("%s: %v", name, err))
	}
	return nil, fmt.Errorf("%w:\n  %s", ErrNone, strings.Join(tried, "\n  "))
}
