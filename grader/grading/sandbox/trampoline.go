package sandbox

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"flashlab/internal/jail"
)

// trampolineName is the first argument of this program when it runs between us and
// another.
const trampolineName = "flashlab-trampoline"

// Trampoline must be the first call of every program that uses a Box. Where programs
// only get their own user, this program gives up its powers step by step, and becomes
// the other. Otherwise it does nothing.
func Trampoline() {
	if len(os.Args) < 9 || os.Args[1] != trampolineName {
		return
	}
	err := become(os.Args[2:8], os.Args[8], os.Args[8:])
	fmt.Fprintln(os.Stderr, "sandbox:", err)
	os.Exit(125)
}

func become(settings []string, path string, args []string) error {
	var n [5]uint64 // user, descriptors, seconds, bytes of a file, processes
	for i := range n {
		var err error
		if n[i], err = strconv.ParseUint(settings[i], 10, 64); err != nil {
			return err
		}
	}
	user := int(n[0])
	program, err := io.ReadAll(os.NewFile(filterFD, "filter"))
	if err != nil || len(program) == 0 {
		return fmt.Errorf("the filter: %w", err)
	}
	// The filter and the death signal are a thread's; exec keeps those of the
	// thread that calls it.
	runtime.LockOSThread()
	for resource, limit := range map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 1024, unix.RLIMIT_CPU: n[2], unix.RLIMIT_FSIZE: n[3], unix.RLIMIT_NPROC: n[4]} {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit %d: %w", resource, err)
		}
	}
	if err := syscall.Chdir(settings[5]); err != nil {
		return err
	}
	_, _ = unix.Setsid()
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // one that the kernel does not know does not matter
	}
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("groups: %w", err)
	}
	if err := syscall.Setresgid(user, user, user); err != nil {
		return fmt.Errorf("group: %w", err)
	}
	if err := syscall.Setresuid(user, user, user); err != nil {
		return fmt.Errorf("user: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("death signal: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if err := unix.CloseRange(3+uint(n[1]), ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("descriptors: %w", err)
	}
	if err := install(program); err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	if _, err := unix.Write(jail.SignFD, []byte("u")); err != nil { // it closes with exec
		return fmt.Errorf("sign: %w", err)
	}
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, args, os.Environ()))
}

// install sets the filter for this thread.
func install(program []byte) error {
	f := unix.SockFprog{Len: uint16(len(program) / 8), Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0]))}
	const setModeFilter = 1
	_, _, e := syscall.RawSyscall(unix.SYS_SECCOMP, setModeFilter, 0, uintptr(unsafe.Pointer(&f)))
	runtime.KeepAlive(program)
	if e != 0 {
		return e
	}
	return nil
}
