package worker

import (
	"fmt"
	"io"
	"os"

	"flashlab/device"
	"flashlab/grader/grading/wire"
	"flashlab/internal/frame"
)

// replay runs the cases of a file on the GPU.
func replay(args []string, ops map[string]Op) error {
	if len(args) != 2 {
		return fmt.Errorf("%s: want the file of cases and the file for replies", wire.ReplayMode)
	}
	cases, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer cases.Close()
	replies, err := os.Create(args[1])
	if err != nil {
		return err
	}
	defer replies.Close()
	return Replay(cases, replies, ops, func() (device.Device, error) { return openCUDA(nil) })
}

// Replay reads a greeting and cases from one side and writes replies to the other.
func Replay(cases io.Reader, replies io.Writer, ops map[string]Op, open func() (device.Device, error)) error {
	var hello wire.Hello
	if _, err := frame.Read(cases, &hello); err != nil {
		return fmt.Errorf("the file of cases: %w", err)
	}
	d, err := open()
	if err != nil {
		return err
	}
	defer d.Close()
	return Loop(struct {
		io.Reader
		io.Writer
	}{cases, replies}, d, ops)
}
