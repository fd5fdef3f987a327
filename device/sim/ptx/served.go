package ptx

import (
	"maps"
	"slices"
)

// Served lists the instructions that the simulator has, one line each.
func Served() []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if f := families[name].forms; f != "" {
			lines = append(lines, f)
		}
	}
	return lines
}

// Names are the instructions' names.
func Names() []string { return slices.Sorted(maps.Keys(families)) }
