package main

import "fmt"

// gradebookCommand makes the grades anew of what a batch measured: after a change of
// course.toml or of a table.
func gradebookCommand(args []string) (int, error) {
	var c classFlags
	class, settings, err := c.ofBatch("gradebook", args)
	if err != nil {
		return exitFailed, err
	}
	code, err := c.write(class)
	if err != nil {
		return code, fmt.Errorf("gradebook: %w", err)
	}
	return code, settings.Save(c.out)
}
