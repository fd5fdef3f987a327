package main

import (
	"errors"
	"flag"
	"fmt"
)

// gradebookCommand makes the grades anew of what a batch measured: after a change of
// course.toml or of a table.
func gradebookCommand(args []string) (int, error) {
	var c classFlags
	f := flag.NewFlagSet("gradebook", flag.ContinueOnError)
	c.register(f)
	places, err := parsePlaces(f, args)
	if err != nil {
		return exitFailed, err
	}
	if len(places) != 1 {
		return exitFailed, errors.New("gradebook: want the folder of a batch: gradebook OUT")
	}
	c.out = places[0]
	_, all, settings, err := c.open()
	if err != nil {
		return exitFailed, err
	}
	class, err := c.class(all, settings)
	if err != nil {
		return exitFailed, err
	}
	code, err := c.write(class)
	if err != nil {
		return code, fmt.Errorf("gradebook: %w", err)
	}
	return code, settings.Save(c.out)
}
