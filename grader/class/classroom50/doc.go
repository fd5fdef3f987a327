// Package classroom50 holds autograder.py, which grades a submission on Classroom 50: where GitHub Classroom was, since
// that has ended. docs/instructors.md says how to use it.
package classroom50
