package supervise

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// socketPair makes two connected ends: a Conn for us, a file for the worker.
func socketPair(name string) (net.Conn, *os.File, error) {
	syscall.ForkLock.RLock() // no other child may inherit them
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("socket for the worker: %w", err)
	}
	ours := os.NewFile(uintptr(fds[0]), name)
	theirs := os.NewFile(uintptr(fds[1]), name)
	conn, err := net.FileConn(ours) // works on a copy
	ours.Close()
	if err != nil {
		theirs.Close()
		return nil, nil, fmt.Errorf("socket for the worker: %w", err)
	}
	return conn, theirs, nil
}
