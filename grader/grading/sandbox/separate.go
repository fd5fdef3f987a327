package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"flashlab/grader/tasks/registry"
	"flashlab/internal/glob"
	"flashlab/internal/jail"
	"flashlab/internal/repo"
)

// separate gives each program its own user, where nothing better is available: as
// root in a container that allows no namespaces. The system's files stay visible;
// the course's are hidden by their permissions.
type separate struct {
	self   string // this program: it is the trampoline, too
	filter string // no sockets, segments or queues: there are no namespaces here

	mu    sync.Mutex
	users []int // that were given away
}

func (s *separate) command(ctx context.Context, p jail.Program) *exec.Cmd {
	s.sweep(true)
	user := giveAway(p.Write)
	s.mu.Lock()
	s.users = append(s.users, user)
	s.mu.Unlock()
	dir := p.Dir
	if dir == "" {
		dir = "/tmp"
	}
	args := append([]string{"-c", join, "sandbox", s.filter}, p.Groups...)
	args = append(args, "--", s.self, trampolineName, strconv.Itoa(user), strconv.Itoa(len(p.Files)), strconv.Itoa(int(p.CPU.Seconds())+1),
		strconv.FormatInt(p.FileSize, 10), strconv.Itoa(p.Processes), dir, p.Path)
	cmd := exec.CommandContext(ctx, "/bin/sh", append(args, p.Args...)...)
	cmd.Dir = "/"
	cmd.Env = p.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	return cmd
}

// sweep ends what programs have left running and removes their files. orphans
// are those whose program has ended; without it, all of them.
func (s *separate) sweep(orphans bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ours := map[int]bool{}
	for _, u := range s.users {
		ours[u] = true
	}
	if orphans && os.Getpid() == 1 {
		return // then our own programs look like orphans: they end with us, at the latest
	}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		status, err := os.ReadFile(filepath.Join("/proc", e.Name(), "status"))
		if err == nil && ours[field(status, "Uid:")] && (!orphans || field(status, "PPid:") == 1) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if orphans {
		return
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		held, _ := os.ReadDir(dir)
		for _, h := range held {
			info, err := h.Info()
			if err != nil {
				continue
			}
			if st, ok := info.Sys().(*syscall.Stat_t); ok && ours[int(st.Uid)] {
				_ = os.RemoveAll(filepath.Join(dir, h.Name()))
			}
		}
	}
	s.users = nil
}

// field is the first number behind a name in /proc/…/status.
func field(status []byte, name string) int {
	_, rest, _ := strings.Cut("\n"+string(status), "\n"+name)
	rest, _, _ = strings.Cut(rest, "\n")
	first, _, _ := strings.Cut(strings.TrimSpace(rest), "\t")
	n, err := strconv.Atoi(first)
	if err != nil {
		return -1
	}
	return n
}

// probeSeparate makes the course's own files unreadable for others, and checks that
// it worked.
func probeSeparate() (*Box, error) {
	if !root() {
		return nil, errors.New("only root can give a program another user")
	}
	self, err := os.Executable() // reached as root: the program is not another user yet
	if err != nil {
		return nil, err
	}
	filter, err := writeFilter(false)
	if err != nil {
		return nil, err
	}
	syscall.Umask(0o022)
	s := &separate{self: self, filter: filter}
	box := &Box{Name: "a user for each program", command: s.command, end: func() { s.sweep(false) }, lets: letThrough, notHeld: []string{
		"Faults of the Linux kernel itself: the program runs on the same kernel as everything else.",
		"Reading: files of the machine that everybody may read (keep the submissions' folder for yourself: chmod 700), the list of its processes with their arguments, its name.",
		"Writing to /tmp, /var/tmp and /dev/shm, as much as there is room; what is left there is removed at the end.",
		"Meeting other programs by files in /dev/shm that everybody may use.",
	}}
	if len(gpus()) > controls {
		box.lets = append(slices.Clone(box.lets), "open a device of the machine")
		box.notHeld = append(box.notHeld, "The machine's GPUs, where everybody may use them: the simulator's programs see them, too.")
	}
	if open := openToAll("/dev"); len(open) > 0 {
		box.lets = append(slices.Clone(box.lets), "open a device of the machine")
		box.notHeld = append(box.notHeld, "Devices that everybody may use here: "+strings.Join(open, ", ")+".")
	}
	secret, err := hide()
	if err != nil {
		return nil, err
	}
	if err := box.try(); err != nil {
		return nil, err
	}
	cmd, err := box.Command(context.Background(), jail.Program{Path: "/usr/bin/head", Args: []string{"-c1", secret}, CPU: 10 * time.Second})
	if err != nil {
		return nil, err
	}
	if out, err := cmd.Output(); err == nil && len(out) > 0 {
		return nil, fmt.Errorf("%s can still be read by everybody", secret)
	}
	return box, nil
}

// hide stops others from reading what no submission may see: solutions, hidden
// cases, mutants, exploits, history. It returns one of these files.
func hide() (string, error) {
	tree, err := repo.Root()
	if err != nil {
		return "", err
	}
	patterns := []string{"grader/trial", "grader/class", ".git", "out/results*.json", "out/reference", "Results.md"}
	for _, t := range registry.All {
		patterns = append(patterns, t.Dir+"/solution", t.Dir+"/rubric.toml")
	}
	for _, pattern := range patterns {
		found, err := glob.In(tree, pattern)
		if err != nil {
			return "", err
		}
		for _, f := range found {
			info, err := os.Stat(f)
			if err != nil {
				return "", err
			}
			if err := os.Chmod(f, info.Mode().Perm()&^0o077); err != nil {
				return "", fmt.Errorf("hide %s from submissions: %w", f, err)
			}
		}
	}
	return filepath.Join(tree, registry.All[0].Dir, "rubric.toml"), nil
}

// letThrough are attacks of the test's table that this sandbox does not hold.
var letThrough = []string{"read the machine's accounts", "look at other processes", "fill the disk with files", "a file for every inode", "fill the shared memory",
	"see the machine's name", "write outside of its folder", "leave its control group"}

// harmless are devices that every program needs, or that are no more than a file.
var harmless = []string{"null", "zero", "full", "random", "urandom", "tty", "ptmx"}

// openToAll are devices that everybody may read and write, less those and the GPUs.
func openToAll(dir string) (open []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if err != nil || info.Mode()&fs.ModeDevice == 0 || info.Mode().Perm()&0o006 != 0o006 {
			continue
		}
		if !slices.Contains(harmless, e.Name()) && !slices.Contains(gpus(), path) {
			open = append(open, path)
		}
	}
	return open
}
