// Package reference is task 1: multi-head attention in plain Go, one small
// function a step.
//
// README.md is the handout. You edit attention.go; projections.go is provided.
package reference
