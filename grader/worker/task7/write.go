package main

import "errors"

func write([]string) error { return errors.New("to come") }
