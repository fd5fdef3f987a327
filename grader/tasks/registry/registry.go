// Package registry is the list of the course's tasks: what each is called, and where its student's
// files are. Code that needs to know whether a file belongs to a task asks here, so that a new task
// is a line in this list. What the grader knows about each task is in its room, a folder below.
package registry

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Task is a line of the list.
type Task struct {
	Name Name
	Dir  string // of the student's files, from the course's root
}

// All are the course's tasks: the warm-up, those of the route in its order, and then the bonus tasks.
var All = List{
	{"0", "task0_warmup"},
	{"1", "task1_reference"},
	{"2", "task2_unfused"},
	{"3", "task3_tiled_go"},
	{"4", "task4_flash"},
	{"5", "task5_decode"},
	{"6", "task6_e2e"},
	{"7", "task7_gpt2"},
	{"b1", "bonus/b1_rope"},
	{"b2", "bonus/b2_halves"},
	{"b3", "bonus/b3_int8"},
	{"b4", "bonus/b4_qkv"},
	{"b5", "bonus/b5_fourbit"},
	{"b6", "bonus/b6_decode"},
	{"b7", "bonus/b7_kvcache"},
	{"b8", "bonus/b8_w4a16"},
	{"b9", "bonus/b9_quantized"},
	{"b10", "bonus/b10_backward"},
}

// List is some tasks, in order.
type List []Task

// Find looks a task up by its name, or by its folder.
func (all List) Find(name string) (Task, error) {
	var have []string
	for _, t := range all {
		if name == string(t.Name) || strings.Trim(name, "/") == t.Dir {
			return t, nil
		}
		have = append(have, fmt.Sprintf("%s (%s)", t.Name, t.Dir))
	}
	return Task{}, fmt.Errorf("there is no task %q; there is %s", name, strings.Join(have, ", "))
}

// Owner is the task that a file of the tree belongs to, and the file's path below its folder.
func (all List) Owner(file string) (t Task, rest string, ok bool) {
	for _, t := range all {
		if rest, ok := strings.CutPrefix(path.Clean(file), t.Dir+"/"); ok {
			return t, rest, true
		}
	}
	return Task{}, "", false
}

// Compare orders two tasks as slices.SortFunc wants it.
func (all List) Compare(a, b Name) int { return all.index(a) - all.index(b) }

// Before tells whether task a comes before task b.
func (all List) Before(a, b Name) bool { return all.index(a) < all.index(b) }

// index is a task's place; that of a name that there is not is behind all others.
func (all List) index(name Name) int {
	if i := slices.IndexFunc(all, func(t Task) bool { return t.Name == name }); i >= 0 {
		return i
	}
	return len(all)
}

// Room is the folder of what the grader knows of the task, from the course's root.
func (t Task) Room() string {
	if t.Name.numeric() {
		return "grader/tasks/task" + string(t.Name)
	}
	return "grader/tasks/" + string(t.Name)
}

// Worker is the package of the program that runs the task's submissions.
func (t Task) Worker() string { return "./" + t.Room() + "/worker" }

// Bonus is the name of all bonus tasks together.
const Bonus = "bonus"

// Names are what the tasks are called.
func (all List) Names() []Name {
	var names []Name
	for _, t := range all {
		names = append(names, t.Name)
	}
	return names
}
