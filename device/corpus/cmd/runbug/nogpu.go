//go:build !cuda

package main

import "errors"

var errNoGPU = errors.New("built without the tag cuda: only -json NAME works, in the simulator; for a GPU: go build -tags cuda ./device/corpus/cmd/runbug, with the settings of 'grader env'")

func compileAll(string) error { return errNoGPU }

func compareResults(string) error { return errNoGPU }

func runOnGPU(string) error { return errNoGPU }
