package hostside

import (
	"regexp"
	"strings"
)

var defaults = regexp.MustCompile(`=[^,]*`)

// WithoutDefaults are parameters without their default arguments.
func WithoutDefaults(params string) string { return defaults.ReplaceAllString(params, "") }

// Called is what Go asks for a kernel by that is no template, and the expression of its address in C++.
// Which of several of one name is said by its parameters.
func Called(all []Kernel, k Kernel) (name, expression string) {
	overloads := 0
	for _, other := range all {
		if other.Name == k.Name {
			overloads++
		}
	}
	if overloads < 2 {
		return k.Name, "&" + k.Name
	}
	params := WithoutDefaults(k.Params)
	return k.Name + "(" + strings.TrimSpace(params) + ")", "static_cast<void (*)(" + params + ")>(&" + k.Name + ")"
}
