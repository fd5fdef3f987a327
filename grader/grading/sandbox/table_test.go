package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/cgroup"
	"flashlab/internal/jail"
)

// The test binary is the attacker, too: its first argument says so.
const attacker = "attack"

func TestMain(m *testing.M) {
	Trampoline()
	if len(os.Args) > 2 && os.Args[1] == attacker {
		fmt.Println("began")
		got, held := attacks[os.Args[2]](os.Args[3:])
		if held != nil {
			fmt.Println("held:", held)
			os.Exit(3)
		}
		fmt.Println("got through:", got)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// bait is what the attacks look for: each must be within reach of a program that
// runs outside.
type bait struct {
	secret, writable, readable, marker, hostname string
	solution, self                               string // of a tree like the course's, and a copy of this program
	tcp, abstract                                net.Listener
}

func layBait(t *testing.T) bait {
	dir := t.TempDir()
	b := bait{secret: filepath.Join(dir, "secret"), writable: filepath.Join(dir, "writable"), readable: filepath.Join(dir, "readable"),
		marker: fmt.Sprintf("flashlab-daemon-%d", os.Getpid())}
	for up := dir; up != "/tmp" && up != "/"; up = filepath.Dir(up) {
		_ = os.Chmod(up, 0o755) // or another user could not even reach the others
	}
	require.NoError(t, os.WriteFile(b.secret, []byte("the seed is 42"), 0o600))
	tree := filepath.Join(dir, "tree")
	b.solution, b.self = filepath.Join(tree, "task1_reference", "solution", "attention.go"), filepath.Join(tree, "attacker")
	require.NoError(t, os.MkdirAll(filepath.Dir(b.solution), 0o755))
	for name, text := range map[string]string{b.solution: "package reference", filepath.Join(tree, "go.mod"): "module flashlab\n", filepath.Join(tree, "task1_reference", "rubric.toml"): "hidden"} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	t.Chdir(tree)
	t.Setenv("FLASHLAB_CACHE", "")
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, copyFile(self, b.self))
	require.NoError(t, os.Mkdir(b.writable, 0o777))
	require.NoError(t, os.Mkdir(b.readable, 0o777))
	b.hostname, err = os.Hostname()
	require.NoError(t, err)
	b.tcp, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b.abstract, err = net.Listen("unix", "@"+b.marker)
	require.NoError(t, err)
	t.Cleanup(func() { b.tcp.Close(); b.abstract.Close() })
	id, _, e := syscall.Syscall(syscall.SYS_SHMGET, segmentKey, 4096, 0o1000|0o666)
	require.Zero(t, e)
	t.Cleanup(func() { _, _, _ = syscall.Syscall(syscall.SYS_SHMCTL, id, 0, 0) })
	t.Setenv("FLASHLAB_SECRET", "42")
	fd, err := syscall.Open(b.secret, syscall.O_RDONLY, 0) // without close-on-exec: a child would inherit it
	require.NoError(t, err)
	t.Cleanup(func() { syscall.Close(fd) })
	return b
}

func (b bait) args(name string) []string {
	first := b.secret
	switch name {
	case "connect to a service of the machine":
		first = b.tcp.Addr().String()
	case "connect to a socket without a file":
		first = "@" + b.marker
	case "leave a segment behind", "leave a queue behind":
		first, _ = os.Readlink("/proc/self/ns/ipc")
	case "kill the grader":
		first = strconv.Itoa(os.Getpid())
	case "read the tree with the solutions":
		first = b.solution
	}
	return []string{first, b.writable, b.readable, b.marker, b.hostname}
}

// TestAttacks tries every attack in every sandbox that works here, and prints the
// table.
func TestAttacks(t *testing.T) {
	b := layBait(t)
	names := make([]string, 0, len(attacks))
	for name := range attacks {
		names = append(names, name)
	}
	slices.Sort(names)
	any := false
	for _, kind := range Kinds {
		box, err := Probe(kind)
		if err != nil {
			t.Logf("%s is not tried here: %v", kind, err)
			continue
		}
		any = true
		t.Run(kind, func(t *testing.T) {
			defer box.Close()
			rows := table.NewWriter()
			rows.AppendHeader(table.Row{"attack", "held by", "result"})
			for _, name := range names {
				if kind == "uid" && (name == "fill the disk with files" || name == "a file for every inode") {
					rows.AppendRow(table.Row{name, "", "NOT HELD, as the report says: not tried, it would fill this disk"})
					continue
				}
				result, held := try(t, box, name, b)
				if slices.Contains(box.lets, name) {
					result = "NOT HELD, as the report says: " + result
				} else {
					assert.True(t, held, "%s: %s", name, result)
				}
				rows.AppendRow(table.Row{name, heldBy[name], result})
			}
			t.Logf("%s, as user %d\n%s\nnot held:\n  %s", box.Name, os.Geteuid(), rows.Render(), strings.Join(box.NotHeld(), "\n  "))
		})
	}
	if !any {
		t.Skip("no sandbox works here")
	}
}

// try runs one attack, and looks outside for what it has done.
func try(t *testing.T, box *Box, name string, b bait) (result string, held bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if name == "print without end" {
		ctx, cancel = context.WithTimeout(context.Background(), time.Second)
		defer cancel()
	}
	p := jail.Program{Path: b.self, Args: append([]string{attacker, name}, b.args(name)...), Read: []string{b.self, b.readable}, Write: []string{b.writable},
		Processes: 100, Memory: 300 << 20, FileSize: 20 << 20, CPU: 2 * time.Second}
	if name == "fill the disk with files" {
		p.Memory = 4 << 30 // or the limit of memory is first
	}
	cmd, err := box.Command(ctx, p)
	require.NoError(t, err)
	out := &bounded{room: 1 << 16}
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	stop := make(chan struct{})
	if name == "memory without end" { // as grader/grading/supervise does
		go watch(cmd, 300<<20, stop)
	}
	err = cmd.Wait()
	close(stop)
	text := out.String()
	if !strings.HasPrefix(text, "began\n") {
		return "it did not start: " + text, false
	}
	if at := strings.Index(text, "held: "); at >= 0 {
		result, held = strings.TrimSpace(text[at+6:]), true
	} else if strings.Contains(text, "got through") {
		return strings.TrimSpace(text), false
	} else {
		result, held = fmt.Sprintf("it was ended: %v", err), err != nil
		if ctx.Err() != nil {
			result = "it was ended after its time"
		}
	}
	if box.end != nil {
		box.end()
	}
	if found := running(b.marker); name == "leave a daemon behind" && found {
		return "the daemon still runs", false
	}
	if _, err := os.Stat(filepath.Join(b.readable, "was-here")); err == nil {
		return "it wrote where it may only read", false
	}
	for _, f := range []string{"endless", "link"} {
		_ = os.Remove(filepath.Join(b.writable, f))
	}
	return result, held
}

func watch(cmd *exec.Cmd, limit int64, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
			if cgroup.Taken(cmd.Process.Pid) > limit {
				_ = cmd.Cancel()
			}
		}
	}
}

// running tells whether a process outside holds the marker among its arguments;
// one that was killed may take a moment.
func running(marker string) bool {
	found := false
	for range 20 {
		found = false
		for _, pid := range processes() {
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if err == nil && strings.Contains(string(line), ": "+marker) {
				found = true
			}
		}
		if !found {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return found
}

type bounded struct {
	strings.Builder
	room int
}

func (b *bounded) Write(p []byte) (int, error) {
	keep := min(len(p), b.room)
	b.room -= keep
	b.Builder.Write(p[:keep])
	return len(p), nil
}

// TestTheBaitIsWithinReachOutside: an attack that fails everywhere shows nothing.
func TestTheBaitIsWithinReachOutside(t *testing.T) {
	b := layBait(t)
	for _, name := range []string{"read a file of the machine", "read the tree with the solutions", "follow a link out of its folder", "connect to a service of the machine",
		"connect to a socket without a file", "read the grader's environment", "look at other processes", "see the machine's name", "share memory with other programs", "use a descriptor of the grader"} {
		got, held := attacks[name](b.args(name))
		assert.NoError(t, held, name)
		assert.NotEmpty(t, got, name)
	}
}

// TestAttacksAsAnOrdinaryUser does the same again as a user who is not root.
func TestAttacksAsAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("we are an ordinary user already")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("setpriv (of util-linux) is not installed")
	}
	dir, err := os.MkdirTemp("", "flashlab-user-")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o777))
	self, err := os.Executable()
	require.NoError(t, err)
	copied := filepath.Join(dir, "sandbox.test")
	require.NoError(t, copyFile(self, copied))
	const user = "47110"
	cmd := exec.Command(setpriv, "--reuid", user, "--regid", user, "--clear-groups", copied, "-test.run", "^TestAttacks$", "-test.v")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fail()
	}
}

func copyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	g, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	defer g.Close()
	_, err = io.Copy(g, f)
	return err
}
