package sandbox

import (
	"encoding/binary"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// denied are system calls that no submission needs, and that reach other
// processes, the machine's settings or rarely walked parts of the kernel.
var denied = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP, unix.SYS_IOPL, unix.SYS_IOPERM,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
	unix.SYS_MODIFY_LDT,
}

// families are the kinds of sockets that can be made where there is a network of the
// program's own. Others, such as those to a virtual machine's host, belong to no network.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6}

// lasting are calls that make what outlives a program, where it has no name space of its own for it.
var lasting = []uint32{unix.SYS_SHMGET, unix.SYS_SEMGET, unix.SYS_MSGGET, unix.SYS_MQ_OPEN}

// namespaces are the flags by which clone makes new namespaces.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWUTS |
	unix.CLONE_NEWIPC | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// What a filter answers: see seccomp(2).
const (
	allow       = 0x7fff0000
	refuse      = 0x00050000 | uint32(unix.EPERM)
	unavailable = 0x00050000 | uint32(unix.ENOSYS)
	kill        = 0x80000000

	archX86      = 0xc000003e
	x32          = 0x40000000 // numbers from here on are another way to call the same
	offsetNumber = 0          // of struct seccomp_data
	offsetArch   = 4
	offsetFirst  = 16 // the low half of the first argument
)

// filter is the seccomp filter: everything is allowed except what is denied. own says that
// the program has a network, and shared memory, of its own: without them it can make no
// socket and no segment or queue; sockets that it holds stay usable.
func filter(own bool) ([]byte, error) {
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: archX86, SkipTrue: 1},
		bpf.RetConstant{Val: kill}, // 32-bit calls have other numbers
		bpf.LoadAbsolute{Off: offsetNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: x32, SkipFalse: 1},
		bpf.RetConstant{Val: unavailable},
		// clone3 keeps its flags in memory, where a filter cannot look: without it
		// the C library falls back on clone.
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE3, SkipFalse: 1},
		bpf.RetConstant{Val: unavailable},
	}
	calls := denied
	if !own {
		calls = slices.Concat(denied, lasting, []uint32{unix.SYS_SOCKET})
	}
	for _, n := range calls {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: n, SkipFalse: 1}, bpf.RetConstant{Val: refuse})
	}
	// A socket's kind is the first argument. Behind the last family that is allowed, refuse.
	program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_SOCKET, SkipFalse: uint8(3 + len(families))}, bpf.LoadAbsolute{Off: offsetFirst, Size: 4})
	for i, family := range families {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: family, SkipTrue: uint8(len(families) - i)})
	}
	program = append(program, bpf.RetConstant{Val: refuse}, bpf.RetConstant{Val: allow},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE, SkipFalse: 3},
		bpf.LoadAbsolute{Off: offsetFirst, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: namespaces, SkipFalse: 1},
		bpf.RetConstant{Val: refuse},
		bpf.RetConstant{Val: allow},
	)
	raw, err := bpf.Assemble(program)
	if err != nil {
		return nil, err
	}
	var out []byte // struct sock_filter, one after another
	for _, r := range raw {
		out = binary.LittleEndian.AppendUint16(out, r.Op)
		out = append(out, r.Jt, r.Jf)
		out = binary.LittleEndian.AppendUint32(out, r.K)
	}
	return out, nil
}
