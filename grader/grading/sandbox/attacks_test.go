package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attack is what the test binary tries when it runs inside: it returns what it got
// hold of, or why it got nothing. Its arguments tell where the test has laid bait.
type attack func(args []string) (got string, held error)

// errNothing: there was nothing to get.
var errNothing = errors.New("there is nothing")

var attacks = map[string]attack{
	"read a file of the machine":          readBait,
	"read the tree with the solutions":    readBait,
	"read the machine's accounts":         func([]string) (string, error) { return readAny("/etc/shadow", "/etc/passwd", "/root/.bashrc") },
	"follow a link out of its folder":     followLink,
	"connect to a service of the machine": func(a []string) (string, error) { return dial("tcp", a[0]) },
	"connect to a socket without a file":  func(a []string) (string, error) { return dial("unix", a[0]) },
	"reach the network":                   reachNetwork,
	"read the grader's environment":       readEnvironment,
	"look at other processes":             lookAround,
	"kill the grader":                     killGrader,
	"kill everything":                     killAll,
	"flood of processes":                  forkBomb,
	"memory without end":                  memoryBomb,
	"a file without end":                  fileWithoutEnd,
	"fill the disk with files":            fillDisk,
	"fill the shared memory":              fillShared,
	"never end":                           neverEnd,
	"print without end":                   printWithoutEnd,
	"write outside of its folder":         writeOutside,
	"leave a daemon behind":               leaveDaemon,
	"trace another process":               func([]string) (string, error) { return refusedCall(unix.SYS_PTRACE, unix.PTRACE_ATTACH, 1) },
	"read another process's memory":       func([]string) (string, error) { return refusedCall(unix.SYS_PROCESS_VM_READV, 1) },
	"use a descriptor of the grader":      useDescriptors,
	"set the clock":                       setClock,
	"become root":                         becomeRoot,
	"make a user namespace":               func([]string) (string, error) { return refusedCall(unix.SYS_UNSHARE, unix.CLONE_NEWUSER) },
	"make a namespace by clone":           cloneNamespace,
	"mount a file system":                 mountSomething,
	"load a BPF program":                  func([]string) (string, error) { return refusedCall(unix.SYS_BPF, 0) },
	"count with perf_event_open":          func([]string) (string, error) { return refusedCall(unix.SYS_PERF_EVENT_OPEN) },
	"set up io_uring":                     func([]string) (string, error) { return refusedCall(unix.SYS_IO_URING_SETUP, 8) },
	"handle faults with userfaultfd":      func([]string) (string, error) { return refusedCall(unix.SYS_USERFAULTFD, 1) },
	"use the kernel's keys":               func([]string) (string, error) { return refusedCall(unix.SYS_KEYCTL, 0, 0, 1) },
	"open a device of the machine":        openDevices,
	"change the machine's settings":       changeSettings,
	"leave its control group":             leaveGroup,
	"type into the grader's terminal":     typeIntoTerminal,
	"see the machine's name":              seeName,
	"share memory with other programs":    func([]string) (string, error) { return refusedIPC() },
}

func readBait(args []string) (string, error) { return readAny(args[0]) }

func readAny(files ...string) (string, error) {
	var last error
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err == nil {
			return f + ": " + string(text[:min(len(text), 20)]), nil
		}
		last = err
	}
	return "", last
}

func followLink(args []string) (string, error) {
	link := filepath.Join(args[1], "link")
	if err := os.Symlink(args[0], link); err != nil {
		return "", err
	}
	return readAny(link)
}

func dial(network, address string) (string, error) {
	c, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return "", err
	}
	c.Close()
	return "connected to " + address, nil
}

func reachNetwork([]string) (string, error) {
	all, err := net.Interfaces()
	if err != nil {
		return "", err
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 {
			return "the interface " + i.Name, nil
		}
	}
	return dial("udp", "192.0.2.1:53")
}

func readEnvironment([]string) (string, error) {
	for _, f := range []string{"/proc/self/environ", "/proc/1/environ", "/proc/2/environ"} {
		if text, err := os.ReadFile(f); err == nil && bytes.Contains(text, []byte("SECRET")) {
			return f, nil
		}
	}
	if slices.ContainsFunc(os.Environ(), func(e string) bool { return strings.Contains(e, "SECRET") }) {
		return "os.Environ", nil
	}
	return "", errNothing
}

// processes are the numbers that /proc shows.
func processes() (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func lookAround([]string) (string, error) {
	if n := len(processes()); n > 3 {
		return fmt.Sprintf("%d processes", n), nil
	}
	return "", errNothing
}

func killGrader(args []string) (string, error) {
	pid, _ := strconv.Atoi(args[0])
	return "killed", syscall.Kill(pid, syscall.SIGKILL)
}

// killAll ends its own processes at most, even as root: in its own namespace this
// process has a small number. Elsewhere the attack is not even tried.
func killAll([]string) (string, error) {
	if syscall.Getuid() == 0 && os.Getpid() > 20 {
		return "all of the machine's processes", nil
	}
	if err := syscall.Kill(-1, syscall.SIGCONT); err != nil {
		return "", err
	}
	return "", errNothing
}

func forkBomb([]string) (string, error) {
	for n := range 1000 {
		cmd := exec.Command("/bin/sleep", "60")
		if err := cmd.Start(); err != nil {
			return "", fmt.Errorf("after %d: %w", n, err)
		}
	}
	return "1000 processes", nil
}

func memoryBomb([]string) (string, error) {
	for n := range 64 {
		block := make([]byte, 64<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		kept = append(kept, block)
		fmt.Fprintln(os.Stderr, n)
	}
	return "4 GB", nil
}

var kept [][]byte

func fileWithoutEnd(args []string) (string, error) {
	f, err := os.Create(filepath.Join(args[1], "endless"))
	if err != nil {
		return "", err
	}
	block := make([]byte, 1<<20)
	for n := range 2000 {
		if _, err := f.Write(block); err != nil {
			return "", fmt.Errorf("after %d MB: %w", n, err)
		}
	}
	return "a file of 2 GB", nil
}

func fillDisk([]string) (string, error) { return fill("/tmp", 3000) }

func fillShared([]string) (string, error) { return fill("/dev/shm", 300) }

func fill(dir string, megabytes int) (string, error) {
	block := make([]byte, 1<<20)
	for n := range megabytes {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(n)), block, 0o600); err != nil {
			return "", fmt.Errorf("after %d MB: %w", n, err)
		}
	}
	return fmt.Sprintf("%d MB in %s", megabytes, dir), nil
}

func neverEnd([]string) (string, error) {
	for n := 0; ; n++ {
		if n < 0 {
			return "", nil
		}
	}
}

func printWithoutEnd([]string) (string, error) {
	line := bytes.Repeat([]byte("x"), 1<<16)
	for {
		_, _ = os.Stderr.Write(line)
	}
}

func writeOutside(args []string) (string, error) {
	var last error
	for _, dir := range []string{"/", "/usr", "/usr/local", "/etc", "/dev", "/proc", "/root", "/var/tmp", args[2]} {
		name := filepath.Join(dir, "was-here")
		if last = os.WriteFile(name, nil, 0o600); last == nil {
			return name, nil
		}
	}
	return "", last
}

func leaveDaemon(args []string) (string, error) {
	cmd := exec.Command("/bin/sh", "-c", "sleep 60; : "+args[3])
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	return "", errors.New("it ended with its parent") // the test looks whether that is so
}

func refusedCall(number uintptr, args ...uintptr) (string, error) {
	args = append(args, 0, 0, 0, 0, 0, 0)
	_, _, e := syscall.Syscall6(number, args[0], args[1], args[2], args[3], args[4], args[5])
	if e == unix.EPERM || e == unix.ENOSYS || e == unix.EACCES {
		return "", e
	}
	return fmt.Sprintf("call %d came through: %v", number, e), nil
}

func useDescriptors([]string) (string, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if fd, _ := strconv.Atoi(e.Name()); err == nil && fd > 2 && !strings.HasPrefix(to, "anon_inode:") && !strings.HasPrefix(to, "/proc/") && !strings.HasPrefix(to, "/sys/fs/cgroup/") { // Go itself reads how many processors it has
			return to, nil
		}
	}
	return "", errNothing
}

func setClock([]string) (string, error) {
	now := unix.Timespec{Sec: time.Now().Unix()}
	return "the clock was set", unix.ClockSettime(unix.CLOCK_REALTIME, &now)
}

func becomeRoot([]string) (string, error) {
	if syscall.Setuid(0) == nil && syscall.Getuid() == 0 {
		return "user 0", nil
	}
	for _, program := range []string{"/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd"} {
		if out, err := exec.Command(program, "-c", "id -u").CombinedOutput(); err == nil && strings.TrimSpace(string(out)) == "0" {
			return program, nil
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", err
	}
	for _, want := range []string{"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"} {
		if !strings.Contains(string(status), want) {
			return "no " + want, nil
		}
	}
	return "", syscall.EPERM
}

func cloneNamespace([]string) (string, error) {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS}
	return "a namespace", cmd.Run()
}

func mountSomething([]string) (string, error) {
	return "a mount", syscall.Mount("none", "/tmp", "tmpfs", 0, "")
}

func openDevices([]string) (string, error) {
	var last error
	for _, d := range []string{"/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/nvidia0", "/dev/kvm", "/dev/fuse"} {
		f, err := os.OpenFile(d, os.O_RDWR, 0)
		if err == nil {
			f.Close()
			return d, nil
		}
		last = err
	}
	if err := syscall.Mknod("/tmp/disk", syscall.S_IFBLK|0o600, 8<<8); err == nil {
		return "mknod", nil
	}
	return "", last
}

func changeSettings([]string) (string, error) {
	var last error
	for _, s := range []string{"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/sys/vm/overcommit_memory"} {
		f, err := os.OpenFile(s, os.O_WRONLY, 0) // and nothing is written: it would stay
		if err == nil {
			f.Close()
			return s, nil
		}
		last = err
	}
	return "", last
}

func leaveGroup([]string) (string, error) {
	if entries, err := os.ReadDir("/sys/fs/cgroup"); err == nil && len(entries) > 0 {
		return "/sys/fs/cgroup", nil
	}
	return "", errNothing
}

func typeIntoTerminal([]string) (string, error) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	letter := byte('x')
	_, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCSTI, uintptr(unsafe.Pointer(&letter)))
	if e != 0 {
		return "", e
	}
	return "typed", nil
}

func seeName(args []string) (string, error) {
	name, err := os.Hostname()
	if err == nil && name == args[4] {
		return name, nil
	}
	return "", fmt.Errorf("it is called %q here", name)
}

// refusedIPC looks for the segment that the test has made: a number is its name.
func refusedIPC() (string, error) {
	id, _, e := syscall.Syscall(syscall.SYS_SHMGET, segmentKey, 0, 0)
	if e != 0 {
		return "", e
	}
	return fmt.Sprintf("segment %d", id), nil
}

const segmentKey = 0x666c6173
