//go:build cuda

package main

import (
	"errors"
	"fmt"

	"flashlab/device"
	"flashlab/device/corpus"
	"flashlab/device/cuda"
)

func compileAll() error {
	d, err := cuda.Open(cuda.Options{})
	if err != nil {
		return err
	}
	defer d.Close()
	return corpus.NewRunner(d).Compile()
}

func runOnGPU(name string) error {
	bug, twin, err := find(name)
	if err != nil {
		return err
	}
	d, err := cuda.Open(cuda.Options{})
	if err != nil {
		return err
	}
	defer d.Close()
	err = corpus.NewRunner(d).Run(bug, twin)
	if errors.Is(err, device.ErrFault) {
		fmt.Println("stopped:", err)
		return nil
	}
	return err
}
