package supervise

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
	"flashlab/grader/grading/cgroup"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/wire"
	"flashlab/internal/frame"
	"flashlab/tensor"
)

// The test binary plays the worker: this variable says which kind.
const playVariable = "FLASHLAB_TEST_WORKER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(playVariable); mode != "" {
		play(mode)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play answers as a worker would, until the mode's case comes: ID 2.
func play(mode string) {
	conn := os.NewFile(wire.CasesFD, "cases")
	if mode == "early" {
		return
	}
	var hello wire.Hello
	if _, err := frame.Read(conn, &hello); err != nil {
		os.Exit(9)
	}
	if mode == "refuses" {
		_ = wire.WriteReply(conn, wire.Reply{Error: &wire.Error{Class: wire.Failed, Text: "no CUDA-capable device is detected"}}, nil)
		time.Sleep(time.Minute)
	}
	_ = wire.WriteReply(conn, wire.Reply{}, nil)
	for {
		c, _, err := wire.ReadCase(conn)
		if err != nil {
			return
		}
		if c.ID >= 2 {
			misbehave(mode, conn)
		}
		_ = wire.WriteReply(conn, wire.Reply{ID: c.ID}, output(c.Outputs[0].Shape...))
	}
}

func output(shape ...int) *problem.Answer {
	return &problem.Answer{Tensors: []*tensor.Tensor{tensor.New(shape...)}}
}

// square is a case whose output is a matrix of four.
func square(id int) problem.Problem {
	return problem.Problem{ID: id, Op: "softmax", Outputs: []problem.Tensor{{Name: "y", Shape: []int{2, 2}}}}
}

func misbehave(mode string, conn io.Writer) {
	switch mode {
	case "exit0":
		os.Exit(0)
	case "exit3":
		fmt.Println("the last words")
		os.Exit(3)
	case "panic":
		panic("in the middle")
	case "hang": // select {} would be a deadlock, which a program without cgo dies of
		time.Sleep(time.Hour)
	case "print":
		line := append(bytes.Repeat([]byte("x"), 1<<20-1), '\n')
		for range 100 {
			_, _ = os.Stdout.Write(line)
		}
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "memory":
		var all [][]byte
		for len(all) < 1<<20 {
			block := make([]byte, 8<<20)
			for i := 0; i < len(block); i += 4096 {
				block[i] = 1
			}
			all = append(all, block)
		}
	case "reserve": // of address space any amount may be taken
		block := make([]byte, 2<<30)
		block[1<<30] = 1
		fmt.Println(len(block))
	case "garbage":
		_, _ = conn.Write([]byte("score: 100 of 100 points, everything is right"))
		time.Sleep(time.Minute)
	case "shape":
		_ = wire.WriteReply(conn, wire.Reply{ID: 2}, output(1))
		time.Sleep(time.Minute)
	case "stale":
		_ = wire.WriteReply(conn, wire.Reply{ID: 1}, output(2, 2))
		time.Sleep(time.Minute)
	case "fault":
		_ = wire.WriteReply(conn, wire.Reply{ID: 2, Error: &wire.Error{Class: wire.Fault, Text: "kernel k stopped"}}, nil)
	}
}

// idle is a backend without a device.
type idle struct{ renewed int }

func (*idle) Kind() device.Kind          { return device.Sim }
func (*idle) Serve(net.Conn, Kernels)    {}
func (*idle) Observe() (Observed, error) { return Observed{Measured: true}, nil }
func (*idle) Expanded() []Expanded       { return nil }
func (i *idle) Renew() error             { i.renewed++; return nil }
func (*idle) Close() error               { return nil }

func runner(t *testing.T, mode string, limit time.Duration) (*Runner, *idle) {
	b := &idle{}
	r := &Runner{Spec: Spec{Binary: os.Args[0], Env: []string{playVariable + "=" + mode}, Output: 4096}, Backend: b, Limit: limit}
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r, b
}

func runCase(t *testing.T, r *Runner, id int) Result {
	t.Helper()
	res, err := r.Run(context.Background(), square(id), nil)
	require.NoError(t, err)
	return res
}

func TestAMisbehavingWorkerLosesItsCaseOnly(t *testing.T) {
	for mode, want := range map[string]string{
		"exit0":   "ended on its own, with exit code 0, before it had answered",
		"exit3":   "ended with exit code 3 before it had answered; it printed: the last words",
		"panic":   "the program crashed: panic: in the middle",
		"hang":    "no answer within 1s",
		"garbage": "broke off",
		"shape":   "broke off",
		"stale":   "broke off",
		"killed":  "killed from outside",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r, b := runner(t, mode, 500*time.Millisecond)
			if mode != "hang" {
				r.Limit = 10 * time.Second
			}
			assert.NotNil(t, runCase(t, r, 1).Output)
			res := runCase(t, r, 2)
			assert.Nil(t, res.Output)
			require.NotNil(t, res.Error)
			assert.Equal(t, wire.Died, res.Error.Class)
			assert.Contains(t, res.Error.Text, want)
			assert.Equal(t, 1, b.renewed)
			assert.NotNil(t, runCase(t, r, 1).Output, "a new worker takes the next case")
			runCase(t, r, 2)
			if mode == "exit0" {
				runCase(t, r, 3)
				assert.Contains(t, runCase(t, r, 1).NotRun, "died 2 times in a row")
			}
		})
	}
}

func TestAWorkerThatDoesNotStart(t *testing.T) {
	r, _ := runner(t, "early", time.Second)
	assert.Equal(t, wire.Died, runCase(t, r, 1).Error.Class)
	assert.Equal(t, wire.Died, runCase(t, r, 1).Error.Class)
	assert.NotEmpty(t, runCase(t, r, 1).NotRun)
	r.Spec.Binary = "/nonexistent"
	r.deaths = 0
	_, err := r.Run(context.Background(), problem.Problem{ID: 1}, nil)
	assert.Error(t, err, "that is the grader's own failure")
}

// probed is a backend that can look at its device by itself.
type probed struct {
	idle
	err error
}

func (p *probed) Usable() error { return p.err }

func TestAnErrorForAGreetingIsTheSubmissions(t *testing.T) {
	r, _ := runner(t, "refuses", time.Second)
	for range 2 {
		e := runCase(t, r, 1).Error
		require.NotNil(t, e)
		assert.Equal(t, wire.Died, e.Class)
		assert.Contains(t, e.Text, "greeting with an error, though the device is there: no CUDA-capable device")
	}
	assert.NotEmpty(t, runCase(t, r, 1).NotRun)

	r, _ = runner(t, "refuses", time.Second)
	gone := errors.New("nvidia-smi lists none")
	r.Backend = &probed{err: gone}
	_, err := r.Run(t.Context(), square(1), nil)
	assert.ErrorIs(t, err, gone, "the device is gone: that is the grader's own failure")
	r.Backend = &probed{}
	assert.Equal(t, wire.Died, runCase(t, r, 1).Error.Class)
}

func TestPrintingCostsNothing(t *testing.T) {
	r, _ := runner(t, "print", 20*time.Second)
	res := runCase(t, r, 2)
	assert.NotNil(t, res.Output)
	assert.LessOrEqual(t, len(res.Printed), 4096+100)
	assert.Contains(t, res.Printed, "bytes are left out here")
	assert.Empty(t, runCase(t, r, 1).Printed, "a case has its own prints only")
}

func TestMemoryIsLimited(t *testing.T) {
	r, _ := runner(t, "memory", time.Minute)
	r.Spec.Memory = 200 << 20
	res := runCase(t, r, 2)
	require.NotNil(t, res.Error)
	assert.Equal(t, wire.Died, res.Error.Class)
	assert.Contains(t, res.Error.Text, "it took more than 0.195 GB of memory")
	assert.NotNil(t, runCase(t, r, 1).Output, "a new worker takes the next case")

	r, _ = runner(t, "reserve", time.Minute)
	r.Spec.Memory = 200 << 20
	assert.NotNil(t, runCase(t, r, 2).Output)
}

func TestAnInterruptIsNoVerdict(t *testing.T) {
	r, _ := runner(t, "hang", time.Minute)
	runCase(t, r, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := r.Run(ctx, square(2), nil)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestAFaultBringsANewWorker(t *testing.T) {
	r, b := runner(t, "fault", 5*time.Second)
	first := runCase(t, r, 2)
	assert.Equal(t, wire.Fault, first.Error.Class)
	assert.Equal(t, 1, b.renewed)
	assert.NotNil(t, runCase(t, r, 1).Output)
}

func TestLastWordsNameTheStudentsLine(t *testing.T) {
	text, where := lastWords("noise\nfatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1:\nsync.x()\n\t/usr/lib/go/sync.go:3 +0x1\n"+
		"flashlab/task2_unfused.(*Attention).Softmax(0x1)\n\t/tmp/b/attention.go:44 +0x2\n", nil, io.EOF)
	assert.Equal(t, "the program crashed: fatal error: all goroutines are asleep - deadlock!", text)
	assert.Equal(t, "task2_unfused/attention.go:44", where)
}

func TestOnlyNewFindingsAndCountsAreObserved(t *testing.T) {
	a := trace.Finding{File: "k.cu", Line: 3, Message: "race", Count: 2}
	b := trace.Finding{File: "k.cu", Line: 9, Message: "race", Count: 1}
	more := a
	more.Count = 5
	fresh := newFindings([]trace.Finding{a}, []trace.Finding{more, b})
	require.Len(t, fresh, 2)
	assert.Equal(t, 3, fresh[0].Count)
	assert.Empty(t, newFindings([]trace.Finding{a, b}, []trace.Finding{a, b}))

	counts := newCounts([]trace.Counts{{Kernel: "k", Launches: 1, SectorsRead: 10}}, []trace.Counts{{Kernel: "k", Launches: 3, SectorsRead: 25, SectorsWritten: 1}})
	assert.Equal(t, []trace.Counts{{Kernel: "k", Launches: 2, SectorsRead: 15, SectorsWritten: 1}}, counts)
	assert.Equal(t, uint64(16*32), Observed{Counts: counts}.Moved())
	assert.Empty(t, newCounts(counts, counts))
}

func TestAControlGroupLimitsMemoryByItself(t *testing.T) {
	const limit = 200 << 20
	g := cgroup.New(cgroup.Limits{Memory: limit})
	if g == nil {
		t.Skip("no control group can be made here")
	}
	g.Remove()
	every := watchEvery
	watchEvery = time.Hour
	defer func() { watchEvery = every }()
	r, _ := runner(t, "memory", time.Minute)
	r.Spec.Memory = limit
	assert.Contains(t, runCase(t, r, 2).Error.Text, "it took more than 0.195 GB of memory")
	dir := g.Dirs()[0]
	left, err := filepath.Glob(dir[:strings.LastIndexByte(dir, '-')] + "-*")
	require.NoError(t, err)
	assert.Empty(t, left, "no group stays behind")
}
