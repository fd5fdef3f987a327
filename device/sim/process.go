package sim

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"flashlab/device/protocol"
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

func startProcess(c *compiler, binary string, o Options, v *view) (*process, error) {
	p := &process{}
	var err error
	if p.cmd, err = c.process(binary, o, v); err != nil {
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

// errDied: the process ended unasked, or was killed for taking too long.
var errDied = errors.New("the simulator's process has ended")

// call sends a request, followed by the bytes of a copy, and reads the answer. A
// process that does not answer within the limit is killed.
func (p *process) call(limit time.Duration, request protocol.Message, data []byte) (protocol.Message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead != nil {
		return nil, p.dead
	}
	timer := time.AfterFunc(limit, func() { p.cmd.Process.Kill() })
	var answer protocol.Message
	err := protocol.Send(p.in, request, data)
	if err == nil {
		answer, err = protocol.Receive(p.out)
	}
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
		return nil, p.dead
	}
	return answer, nil
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
