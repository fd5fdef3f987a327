package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"flashlab/internal/jail"
)

// bubblewrap makes namespaces: of files, processes, network and users.
type bubblewrap struct {
	path    string
	prlimit string
	// unshare is set where we are root, too: then /tmp and /dev/shm are made before
	// bubblewrap runs, because it cannot bound how many files they hold.
	unshare string
	temps   []string // empty folders to mount them on
	sizes   bool     // it bounds the size of a tmpfs: 0.7 and newer
	userns  bool     // it can forbid further user namespaces: 0.8 and newer; the filter does so too
	// setpriv is set where we are root. Then a user namespace does not make the program
	// somebody else: it would still own what root owns, such as /proc/sys. This command
	// turns the program into another user, inside the sandbox.
	setpriv string
}

// filterFD is where bubblewrap finds the filter: behind those that a program may
// be given, and a shell redirects to one digit only.
const filterFD = 9

// join is a script that enters control groups, then becomes the program: so the
// program is never outside them.
const join = `filter=$1; shift
while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 125; shift; done
shift
exec "$@" 9<"$filter"`

// mount makes two bounded file systems that nobody else sees, and that end with us.
const mount = `mount -t tmpfs -o "$1" tmpfs "$2" && mount -t tmpfs -o "$3" tmpfs "$4" || exit 125
shift 4
exec "$@"`

// begin is the last step: it gives the sign that the sandbox is up (jail.SignFD), and becomes
// the program, without that descriptor.
const begin = `printf u >&8 && exec "$@" 8>&-`

func (b bubblewrap) command(ctx context.Context, p jail.Program, filter string) *exec.Cmd {
	args := []string{"-c", join, "sandbox", filter}
	args = append(args, p.Groups...)
	args = append(args, "--")
	if b.unshare != "" {
		args = append(args, b.unshare, "--mount", "--propagation", "private", "--", "/bin/sh", "-c", mount, "sandbox",
			fmt.Sprintf("size=%d,nr_inodes=%d,mode=1777", tempSize, tempFiles), b.temps[0], fmt.Sprintf("size=%d,nr_inodes=%d,mode=1777", sharedSize, sharedFiles), b.temps[1])
	}
	args = append(args, b.prlimit, "--core=0", "--nofile=1024",
		fmt.Sprintf("--cpu=%d", int(p.CPU.Seconds())+1), fmt.Sprintf("--fsize=%d", p.FileSize), "--", b.path)
	args = append(args, b.options(p)...)
	args = append(args, "--")
	if b.setpriv != "" {
		user := strconv.Itoa(giveAway(p.Write))
		args = append(args, b.setpriv, "--reuid", user, "--regid", user, "--clear-groups", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--")
	}
	// Inside, where only the program's own processes count.
	args = append(args, b.prlimit, fmt.Sprintf("--nproc=%d", p.Processes), "--", "/bin/sh", "-c", begin, "sandbox", p.Path)
	cmd := exec.CommandContext(ctx, "/bin/sh", append(args, p.Args...)...)
	cmd.Env = p.Env
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be all of ours
	}
	cmd.Dir = "/" // the shell tells by $PWD where it began
	return cmd
}

// Bytes of memory that files in it may take.
const (
	tempSize   = 256 << 20
	sharedSize = 64 << 20
	// And how many files there may be.
	tempFiles   = 20_000
	sharedFiles = 2000
)

func (b bubblewrap) options(p jail.Program) []string {
	args := []string{"--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"}
	switch {
	case b.setpriv != "":
		args = append(args, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP")
	case b.userns:
		args = append(args, "--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534")
	default:
		args = append(args, "--unshare-user", "--uid", "65534", "--gid", "65534")
	}
	args = append(args, "--hostname", "sandbox", "--ro-bind", "/usr", "/usr")
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		args = append(args, system(dir)...)
	}
	args = append(args, "--dir", "/etc")
	for _, file := range []string{"/etc/ld.so.cache", "/etc/alternatives"} {
		args = append(args, "--ro-bind-try", file, file)
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev")
	if p.GPU {
		for _, d := range gpus() {
			args = append(args, "--dev-bind-try", d, d)
		}
	}
	if b.unshare != "" {
		args = append(args, "--bind", b.temps[0], "/tmp", "--bind", b.temps[1], "/dev/shm")
	} else {
		args = append(args, b.tmpfs("/tmp", tempSize)...)
		args = append(args, b.tmpfs("/dev/shm", sharedSize)...)
	}
	for _, path := range outermostFirst(unseen(p.Read)) {
		args = append(above(args, path), "--ro-bind", path, path)
	}
	for _, path := range outermostFirst(p.Write) {
		args = append(above(args, path), "--bind", path, path)
	}
	dir := p.Dir
	if dir == "" {
		dir = "/tmp"
	}
	return append(args, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", dir, "--seccomp", strconv.Itoa(filterFD))
}

func (b bubblewrap) tmpfs(dir string, size int64) []string {
	args := []string{"--perms", "1777"}
	if b.sizes {
		args = append(args, "--size", strconv.FormatInt(size, 10))
	}
	return append(args, "--tmpfs", dir)
}

// unseen leaves out what is in /usr, which is there already: nothing can be mounted over
// a link in it. Where such a link leads elsewhere, it names the target.
func unseen(paths []string) (rest []string) {
	inUsr := func(path string) bool { return strings.HasPrefix(path, "/usr/") }
	for _, path := range paths {
		if inUsr(path) {
			real, err := filepath.EvalSymlinks(path)
			if err != nil || inUsr(real) {
				continue
			}
			path = real
		}
		rest = append(rest, path)
	}
	return rest
}

// system shows a folder of the system as it is here: on most machines a link
// into /usr.
func system(dir string) []string {
	if target, err := os.Readlink(dir); err == nil {
		return []string{"--symlink", target, dir}
	}
	return []string{"--ro-bind-try", dir, dir}
}

// above makes the folders above a path: left to itself, bubblewrap makes them for
// root only.
func above(args []string, path string) []string {
	var dirs []string
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	for _, dir := range slices.Backward(dirs) {
		args = append(args, "--dir", dir)
	}
	return args
}

// outermostFirst puts a folder before its contents: a later mount covers an earlier
// one.
func outermostFirst(paths []string) []string {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	return slices.Compact(paths)
}

// controls is how many files of a driver gpus names, besides the cards'.
const controls = 3

// gpus are the device files of the GPUs that this process may use itself: in a
// cluster's job the others are out of reach by its control group.
func gpus() []string {
	found := []string{"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"}
	cards, _ := filepath.Glob("/dev/nvidia[0-9]*")
	for _, card := range cards {
		if f, err := os.OpenFile(card, os.O_RDWR, 0); err == nil {
			f.Close()
			found = append(found, card)
		}
	}
	return found
}
