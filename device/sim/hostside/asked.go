package hostside

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Base is the name in an expression for a kernel: layers::add of layers::add<float, 64>.
func Base(expression string) string {
	name, _, _ := strings.Cut(expression, "<")
	return strings.TrimSpace(name)
}

// Named are the kernels of a name.
func Named(all []Kernel, name string) []Kernel {
	return slices.DeleteFunc(slices.Clone(all), func(k Kernel) bool { return k.Name != name })
}

// Asked finds the template that an expression gives arguments to: nil for a kernel that is none, which
// needs no asking. fault says why there is neither.
func Asked(all []Kernel, expression string) (k *Kernel, fault string) {
	name := Base(expression)
	named, templates := Named(all, name), templates(all, name)
	plain := name == strings.TrimSpace(expression)
	switch {
	case len(named) == 0 || len(templates) == 0 && !plain:
		return nil, Misfit(all, expression, "")
	case plain && len(templates) < len(named):
		return nil, ""
	}
	k = &templates[0]
	if len(templates) > 1 { // which one fits is not known yet
		if slices.ContainsFunc(templates, func(t Kernel) bool { return t.Cluster != "" }) {
			return nil, fmt.Sprintf("Source.Kernels asks for %q: of the file's %d templates %s one has __cluster_dims__: give each a name of its own", expression, len(templates), name)
		}
		k.Params, k.Bounds, k.Cluster = "", "", ""
	}
	return k, ""
}

func templates(all []Kernel, name string) []Kernel {
	return slices.DeleteFunc(Named(all, name), func(k Kernel) bool { return !k.Template })
}

// opaque are a compiler's words that tell nothing, for they are of the code around an expression.
var opaque = regexp.MustCompile(`auto|deduc|flashlab|simt|match|expected an expression|type name is not allowed|template argument|wrong number|is not a template|does not refer`)

// Misfit says of an expression that compilers refuse what is wrong with it, and what to ask for instead.
// message is what a compiler says.
func Misfit(all []Kernel, expression, message string) string {
	if message != "" && !opaque.MatchString(message) {
		message = ": " + message
	} else {
		message = ""
	}
	asks := fmt.Sprintf("Source.Kernels asks for %q: ", expression)
	name := Base(expression)
	templates := templates(all, name)
	switch {
	case len(Named(all, name)) == 0:
		return asks + "the file has no kernel " + name + others(all)
	case len(templates) == 0 && name != strings.TrimSpace(expression):
		return asks + fmt.Sprintf("%s is no template: ask for %q", name, name)
	case len(templates) > 1:
		return asks + fmt.Sprintf("of the file's %d templates %s, none fits or more than one: give each a name of its own", len(templates), name)
	case len(templates) == 1:
		return asks + fmt.Sprintf("that does not fit %s, a template <%s>%s", name, templates[0].Takes, message)
	}
	return asks + "the compiler finds no such kernel" + message
}

// others lists the kernels that could have been meant.
func others(all []Kernel) string {
	var names []string
	for _, k := range all {
		if name := k.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ", nor any other"
	}
	return "; it has " + strings.Join(names, ", ")
}
