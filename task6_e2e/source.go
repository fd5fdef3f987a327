// Package e2e is task 6: the attention layer of a model. It distinguishes prompts
// from single tokens, and keeps a cache.
//
// README.md is the handout. You edit attention.go.
package e2e
