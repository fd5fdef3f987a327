// Package e2e is the reference solution of task 6.
package e2e
