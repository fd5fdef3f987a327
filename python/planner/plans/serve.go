package plans

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/device/nvcc"
)

// Call is one request while the task's code runs for it.
type Call struct {
	Request
	Queue    device.Queue
	recorder *recorder
	missing  error
}

// Op makes the call with the task's code: it prepares the kernels and runs them once.
type Op func(c *Call) error

// Size is one of the request's sizes.
func (c *Call) Size(name string) int {
	n, ok := c.Sizes[name]
	if !ok {
		c.missing = fmt.Errorf("%s: the size %q is missing", c.Op, name)
	}
	return n
}

// Tensor is an argument of the call, as a buffer of n elements; nothing of it is read.
func Tensor[T device.Scalar](c *Call, name string, n int) device.Buffer[T] {
	var zero T
	b, err := device.BufferOf[T](c.recorder.block(name, int64(n)*int64(sizeOf(zero)), c.Offsets[name], true))
	if err != nil {
		c.missing = err
	}
	return b
}

func sizeOf(x any) int {
	switch x.(type) {
	case float32, int32, uint32:
		return 4
	case device.Float16, device.BFloat16:
		return 2
	}
	return 8
}

// Serve answers requests on the standard input, one a line, until it ends. What the task's code
// prints goes to the standard error. The arguments are headers that kernels may include beside their own.
func Serve(ops map[string]Op) {
	headers, err := read(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr
	in := bufio.NewReader(os.Stdin)
	made := map[string][]byte{} // machine code, by a module's key
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		if out.Encode(answer(line, ops, headers, made)) != nil {
			return
		}
	}
}

// read reads the headers that kernels may include beside their own, by name.
func read(files []string) (map[string]string, error) {
	headers := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		headers[filepath.Base(file)] = string(text)
	}
	return headers, nil
}

func answer(line []byte, ops map[string]Op, headers map[string]string, made map[string][]byte) (p Plan) {
	var q Request
	if err := json.Unmarshal(line, &q); err != nil {
		return failed("refused", fmt.Errorf("a request that is no JSON: %w", err))
	}
	defer func() {
		if e := recover(); e != nil {
			p = failed("refused", fmt.Errorf("the Go code panics: %v", e))
		}
	}()
	r := &recorder{info: q.Device, headers: headers}
	c := &Call{Request: q, Queue: narrow{r}, recorder: r}
	op, ok := ops[q.Op]
	if !ok {
		return failed("refused", fmt.Errorf("%q is no operation of this task", q.Op))
	}
	err := op(c)
	switch err = errors.Join(c.missing, err); {
	case errors.Is(err, attn.ErrNotImplemented):
		return failed("stub", err)
	case err != nil:
		return failed("refused", err)
	case len(r.plan.Steps) == 0:
		return failed("stub", errors.New("it launches nothing"))
	case !q.Compile:
		return r.plan
	}
	return r.compiled(made)
}

// narrow hides all but the Queue.
type narrow struct{ device.Queue }

// compiled adds the machine code of what is launched.
func (r *recorder) compiled(made map[string][]byte) Plan {
	for i, m := range r.sources {
		to := &r.plan.Modules[i]
		to.Text = ""
		if to.Cubin = made[to.Key]; to.Cubin != nil {
			continue
		}
		tk, err := nvcc.Find()
		if err != nil {
			return failed("nvcc", err)
		}
		if to.Cubin, err = tk.Compile(m.source, r.info.Arch); err != nil {
			return failed("compile", err)
		}
		made[to.Key] = to.Cubin
	}
	return r.plan
}

func failed(kind string, err error) Plan {
	return Plan{Error: err.Error(), Kind: kind}
}
