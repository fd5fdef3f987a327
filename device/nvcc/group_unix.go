//go:build unix

package nvcc

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a time limit end the compiler's children, too.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
