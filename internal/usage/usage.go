// Package usage has the flags of a program that a command starts: the command hands them on, and the program reads
// them.
package usage

// Flags are a program's.
type Flags []Flag

// Flag is one of them: what it is called, and does.
type Flag struct{ Name, Usage string }

// Of is the usage of a flag of this name.
func (all Flags) Of(name string) string {
	for _, f := range all {
		if f.Name == name {
			return f.Usage
		}
	}
	panic("no flag is called " + name)
}
