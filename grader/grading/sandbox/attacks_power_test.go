package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What takes rights: other processes, system calls, devices and settings.

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

// refusedIPC looks for the segment that the test has made: a number is its name.
func refusedIPC() (string, error) {
	id, _, e := syscall.Syscall(syscall.SYS_SHMGET, segmentKey, 0, 0)
	if e != 0 {
		return "", e
	}
	return fmt.Sprintf("segment %d", id), nil
}

const segmentKey = 0x666c6173

// leaveSegment makes shared memory that would outlive it. Where it has its own, that ends
// with it: only what is there for others is got through.
func leaveSegment([]string) (string, error) {
	return lasting4(syscall.SYS_SHMGET, uintptr(os.Getpid()+segmentKey), 4096, unix.IPC_CREAT|0o666, 0)
}

func leaveQueue([]string) (string, error) {
	name := []byte("flashlab\x00")
	return lasting4(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&name[0])), unix.O_CREAT|unix.O_RDWR, 0o666, 0)
}

func lasting4(call, a, b, c, d uintptr) (string, error) {
	id, _, e := syscall.Syscall6(call, a, b, c, d, 0, 0)
	if e != 0 {
		return "", e
	}
	if here, _ := os.Readlink("/proc/self/ns/ipc"); here != "" && len(os.Args) > 3 && here != os.Args[3] {
		return "", errors.New("it is in a name space that ends with it")
	}
	return fmt.Sprintf("number %d", id), nil
}

func openSocket(family, kind int) (string, error) {
	fd, err := unix.Socket(family, kind, 0)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("descriptor %d", fd), nil
}

func fillInodes([]string) (string, error) {
	for n := range 50_000 {
		f, err := os.Create(fmt.Sprintf("/tmp/inode-%d", n))
		if err != nil {
			return "", fmt.Errorf("after %d files: %w", n, err)
		}
		f.Close()
	}
	return "50,000 files", nil
}
