package sim

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"flashlab/device/sim/hostside"
)

// saying is what a kernel's __launch_bounds__ and __cluster_dims__ say, for the table of kernels: arrays of C++.
// Numbers the table can say again. What has names, of a template's parameters or of a namespace's constants, is said
// where the kernel stands, in variables of the same template, which the table names.
type saying struct {
	bounds, cluster string
	before          string // declares those variables, before the kernel
}

const nothingSaid = "simt::Numbers<>::all"

var plainNumbers = regexp.MustCompile(`^[\d\s()+*/,uU-]+$`)

// said is of a kernel, with a template's arguments: "<float, 2>".
func said(k hostside.Kernel, arguments string) saying {
	var s saying
	s.bounds = s.attribute(k, "bounds", k.Bounds, arguments)
	s.cluster = s.attribute(k, "cluster", k.Cluster, arguments)
	return s
}

func (s *saying) attribute(k hostside.Kernel, kind, text, arguments string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return nothingSaid
	case plainNumbers.MatchString(text):
		return "simt::Numbers<" + strings.TrimSpace(text) + ">::all"
	}
	name := fmt.Sprintf("simt_%s_%d", kind, k.At)
	if k.Template {
		s.before += "template <" + onOneLine(k.Takes) + "> "
	}
	s.before += "constexpr unsigned " + name + "[4] = {" + onOneLine(text) + "}; "
	return spaceOf(k) + name + arguments
}

// onOneLine is preprocessed text without the lines that say where it is from.
func onOneLine(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "# ") {
			b.WriteString(strings.TrimRight(line, "\n") + " ")
		}
	}
	return strings.TrimSpace(b.String())
}

// additions are declarations for the table of kernels, by the places in the text where they go. Which of several
// kernels of one name is meant, the types of its parameters say, and what these are called the place alone knows.
func (r stripped) additions() map[int]string {
	all := map[int]string{}
	for _, k := range r.Kernels {
		if before := said(k, "").before; before != "" {
			all[k.Range[0]] += before
		}
		if _, expression := hostside.Called(r.Kernels, k); !k.Template && expression != "&"+k.Name {
			all[k.Range[1]] += " typedef void (*" + chosen(k) + ")(" + onOneLine(hostside.WithoutDefaults(k.Params)) + ");"
		}
	}
	return all
}

// chosen is the type of such a kernel's address.
func chosen(k hostside.Kernel) string { return fmt.Sprintf("simt_kernel_%d", k.At) }

// spaceOf is the namespace of a kernel, as its names begin: "layers::", or nothing.
func spaceOf(k hostside.Kernel) string { return k.Name[:strings.LastIndex(k.Name, ":")+1] }

// inserted is what goes before a place of preprocessed text so that the rest of its line keeps its line and column.
func inserted(text string, at int, what string) string {
	line, file, from, offset := 1, "", 0, 0
	for full := range strings.Lines(text[:at]) {
		offset += len(full)
		if m := lineMarker.FindStringSubmatch(full); m != nil {
			line, _ = strconv.Atoi(m[1])
			file, from = m[2], offset
		}
	}
	line += strings.Count(text[from:at], "\n")
	return fmt.Sprintf("%s\n# %d %q\n%s", what, line, file, strings.Repeat(" ", at-strings.LastIndexByte(text[:at], '\n')-1))
}
