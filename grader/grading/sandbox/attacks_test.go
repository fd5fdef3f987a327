package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

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
	"leave a segment behind":              leaveSegment,
	"leave a queue behind":                leaveQueue,
	"talk to a virtual machine's host":    func([]string) (string, error) { return openSocket(unix.AF_VSOCK, unix.SOCK_STREAM) },
	"ask the kernel by netlink":           func([]string) (string, error) { return openSocket(unix.AF_NETLINK, unix.SOCK_RAW) },
	"a file for every inode":              fillInodes,
}

// heldBy is what the table says of each back end.
var heldBy = map[string]string{
	"read a file of the machine": "its view of the files", "read the tree with the solutions": "its view of the files", "read the machine's accounts": "its view of the files",
	"follow a link out of its folder": "its view of the files", "connect to a service of the machine": "no network", "connect to a socket without a file": "no network",
	"reach the network": "no network", "read the grader's environment": "an empty environment", "look at other processes": "its view of the processes",
	"kill the grader": "its view of the processes", "kill everything": "its view of the processes", "flood of processes": "limit of processes",
	"memory without end": "limit of memory", "a file without end": "limit of a file's size", "fill the disk with files": "size of /tmp", "fill the shared memory": "size of /dev/shm",
	"never end": "limit of processor time", "print without end": "time limit, bounded reader", "write outside of its folder": "read-only files",
	"leave a daemon behind": "all its processes end with it", "trace another process": "system call filter", "read another process's memory": "system call filter",
	"use a descriptor of the grader": "descriptors are closed", "set the clock": "no capabilities", "become root": "no capabilities", "make a user namespace": "system call filter",
	"make a namespace by clone": "system call filter", "mount a file system": "system call filter", "load a BPF program": "system call filter", "count with perf_event_open": "system call filter",
	"set up io_uring": "system call filter", "handle faults with userfaultfd": "system call filter", "use the kernel's keys": "system call filter",
	"open a device of the machine": "its view of the devices", "change the machine's settings": "no capabilities", "leave its control group": "its view of the files",
	"type into the grader's terminal": "a session of its own", "see the machine's name": "a name of its own", "share memory with other programs": "its view of shared memory",
	"leave a segment behind": "its view of shared memory, or system call filter", "leave a queue behind": "its view of shared memory, or system call filter",
	"talk to a virtual machine's host": "system call filter", "ask the kernel by netlink": "system call filter", "a file for every inode": "number of files in /tmp",
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

func seeName(args []string) (string, error) {
	name, err := os.Hostname()
	if err == nil && name == args[4] {
		return name, nil
	}
	return "", fmt.Errorf("it is called %q here", name)
}
