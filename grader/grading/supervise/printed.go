package supervise

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// printed reads what a worker prints for as long as it lives, without a limit on
// the amount. The first and the last bytes of each case are kept.
type printed struct {
	pipe    *os.File
	drained chan struct{} // answers flush
	ended   chan struct{} // the worker has closed its end

	mu      sync.Mutex
	room    int // bytes for the head, and for the tail
	head    []byte
	tail    []byte
	dropped int64
}

// startPrinted makes the pipe; the worker's end is the caller's to close.
func startPrinted(room int) (*printed, *os.File, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("pipe for what the worker prints: %w", err)
	}
	p := &printed{pipe: ours, drained: make(chan struct{}), ended: make(chan struct{}), room: max(room/2, 1)}
	go p.read()
	return p, theirs, nil
}

func (p *printed) read() {
	defer close(p.ended)
	buffer := make([]byte, 64<<10)
	for {
		n, err := p.pipe.Read(buffer)
		p.keep(buffer[:n])
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			_ = p.pipe.SetReadDeadline(time.Time{})
			p.drain(buffer)
			p.drained <- struct{}{}
		case err != nil:
			return
		}
	}
}

// drain takes what the pipe holds by now, without waiting for more.
func (p *printed) drain(buffer []byte) {
	raw, err := p.pipe.SyscallConn()
	if err != nil {
		return
	}
	const most = 64 // buffers: a pipe holds one or so, and more may come all the time
	for range most {
		n := 0
		_ = raw.Read(func(fd uintptr) bool {
			n, _ = syscall.Read(int(fd), buffer)
			return true
		})
		if n <= 0 {
			return
		}
		p.keep(buffer[:n])
	}
}

func (p *printed) keep(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := min(len(b), p.room-len(p.head))
	p.head = append(p.head, b[:first]...)
	p.tail = append(p.tail, b[first:]...)
	if excess := len(p.tail) - p.room; excess > 0 {
		p.dropped += int64(excess)
		p.tail = append(p.tail[:0], p.tail[excess:]...)
	}
}

// flush waits until everything printed before now has been read: a worker prints
// before it answers, but through a different channel.
func (p *printed) flush() {
	_ = p.pipe.SetReadDeadline(time.Unix(1, 0))
	select {
	case <-p.drained:
	case <-p.ended:
	}
}

// finish waits for the end of a worker that is gone; a child of it may still
// hold the pipe.
func (p *printed) finish(limit time.Duration) {
	select {
	case <-p.ended:
	case <-time.After(limit):
	}
	p.pipe.Close()
}

// take returns what was printed since the last call.
func (p *printed) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := string(p.head)
	if p.dropped > 0 {
		text += fmt.Sprintf("\n… (%d bytes are left out here)\n", p.dropped)
	}
	text += string(p.tail)
	p.head, p.tail, p.dropped = nil, nil, 0
	return strings.ToValidUTF8(text, "?")
}
