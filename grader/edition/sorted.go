package edition

import (
	"maps"
	"slices"
)

func Sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
