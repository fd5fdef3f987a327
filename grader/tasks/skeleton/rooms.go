package skeleton

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"

	"flashlab/grader/tasks/registry"
)

const (
	registryFile = "grader/tasks/registry/registry.go"
	roomsFile    = "grader/tasks/rooms/rooms.go"
)

// registered is the registry's file with one more task in its list, the last.
func registered(root string, t registry.Task) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, registryFile))
	if err != nil {
		return nil, err
	}
	const list = "var All = List{\n"
	start := bytes.Index(text, []byte(list))
	if start < 0 {
		return nil, fmt.Errorf("%s has no list %q", registryFile, list)
	}
	end := bytes.Index(text[start:], []byte("\n}\n"))
	if end < 0 {
		return nil, fmt.Errorf("%s: the list of tasks does not end", registryFile)
	}
	at := start + end + 1
	line := fmt.Sprintf("\t{%q, %q},\n", t.Name, t.Dir)
	return append(text[:at:at], append([]byte(line), text[at:]...)...), nil
}

// Rooms is the file that joins the operations of all rooms: it follows from the registry, and a
// test holds it to that.
func Rooms(all registry.List) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("// Package rooms joins what the rooms of all tasks know. `grader new-task` writes this file\n// from the list of tasks.\npackage rooms\n\nimport (\n\t\"slices\"\n\n")
	for _, t := range all {
		fmt.Fprintf(&b, "\t%q\n", "flashlab/"+t.Room())
	}
	b.WriteString(")\n\n// Ops are the operations of every task.\nvar Ops = slices.Concat(")
	for i, t := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s.Ops", filepath.Base(t.Room()))
	}
	b.WriteString(")\n")
	return format.Source(b.Bytes())
}
