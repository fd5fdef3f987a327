package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// Operations and statuses of runtime/server.cpp.
const (
	opConfigure = 1 + iota
	opAllocate
	opFree
	opCopyIn
	opCopyOut
	opSet
	opLoad
	opLaunch
	opReport
	opReset
	opAttributes
	opPrints
)

const (
	statusOK = iota
	statusRefused
	statusStopped
	statusNoMemory
)

// process is the running simulator: one command, one answer.
type process struct {
	mu     sync.Mutex
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	errors tail
	dead   error // why no further command is answered
}

func startProcess(binary string, o Options, v *view) (*process, error) {
	p := &process{}
	var err error
	if p.cmd, err = command(binary, o, v); err != nil {
		return nil, err
	}
	p.cmd.Stderr = &p.errors
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("the simulator does not start: %w", err)
	}
	return p, nil
}

// errDied: the process ended by itself, or was killed for taking too long.
var errDied = errors.New("the simulator's process has ended")

// call sends one command and reads its answer. A process that does not answer
// within the limit is killed.
func (p *process) call(limit time.Duration, op byte, body ...[]byte) (status byte, answer []byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead != nil {
		return 0, nil, p.dead
	}
	timer := time.AfterFunc(limit, func() { p.cmd.Process.Kill() })
	status, answer, err = p.exchange(op, body)
	inTime := timer.Stop()
	if err != nil {
		p.in.Close()
		p.cmd.Process.Kill()
		state := p.cmd.Wait()
		switch {
		case !inTime:
			p.dead = fmt.Errorf("%w: it did not answer within %v", errDied, limit)
		default:
			p.dead = fmt.Errorf("%w: %v %s", errDied, state, p.errors.text())
		}
		return 0, nil, p.dead
	}
	return status, answer, nil
}

func (p *process) exchange(op byte, body [][]byte) (byte, []byte, error) {
	length := 1
	for _, b := range body {
		length += len(b)
	}
	if length > 1<<30 {
		return 0, nil, fmt.Errorf("a message of %d bytes is too long", length)
	}
	head := append(binary.LittleEndian.AppendUint32(nil, uint32(length)), op)
	for _, b := range append([][]byte{head}, body...) {
		if _, err := p.in.Write(b); err != nil {
			return 0, nil, err
		}
	}
	var lead [5]byte
	if _, err := io.ReadFull(p.out, lead[:]); err != nil {
		return 0, nil, err
	}
	answer := make([]byte, binary.LittleEndian.Uint32(lead[:4])-1)
	_, err := io.ReadFull(p.out, answer)
	return lead[4], answer, err
}

func (p *process) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead != nil {
		return nil
	}
	p.dead = errors.New("the simulator was closed")
	p.in.Close() // it ends when its input does
	kill := time.AfterFunc(2*time.Second, func() { p.cmd.Process.Kill() })
	defer kill.Stop()
	err := p.cmd.Wait()
	return err
}

// tail keeps the last of what the process complained about.
type tail struct {
	mu   sync.Mutex
	last []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	if excess := len(t.last) - 2000; excess > 0 {
		t.last = t.last[excess:]
	}
	return len(b), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last)
}

// message builds a command's body.
type message []byte

func (m message) u32(v int) message    { return binary.LittleEndian.AppendUint32(m, uint32(v)) }
func (m message) u64(v uint64) message { return binary.LittleEndian.AppendUint64(m, v) }
func (m message) text(s string) message {
	return append(m.u32(len(s)), s...)
}
