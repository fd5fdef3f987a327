//go:build cuda

package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"flashlab/device"
	"flashlab/device/corpus"
	"flashlab/device/cuda"
)

func compileAll(file string) error {
	d, err := cuda.Open(cuda.Options{})
	if err != nil {
		return err
	}
	defer d.Close()
	return corpus.NewRunner(d).Compile(file)
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

// repeats is how often compareResults runs a bug: a race may go well.
const repeats = 20

// compareResults tells how often a bug's numbers differ from those of its twin.
func compareResults(name string) error {
	bug, _, err := find(name)
	if err != nil {
		return err
	}
	d, err := cuda.Open(cuda.Options{})
	if err != nil {
		return err
	}
	defer d.Close()
	r := corpus.NewRunner(d)
	right, err := r.Results(bug, true)
	if err != nil {
		return err
	}
	wrong := 0
	for range repeats {
		got, err := r.Results(bug, false)
		if errors.Is(err, device.ErrFault) {
			fmt.Println("result: a fault")
			return nil
		}
		if err != nil {
			return err
		}
		if !slices.EqualFunc(got, right, bytes.Equal) {
			wrong++
		}
	}
	if wrong == 0 {
		fmt.Printf("result: right in all %d runs\n", repeats)
	} else {
		fmt.Printf("result: wrong in %d of %d runs\n", wrong, repeats)
	}
	return nil
}
