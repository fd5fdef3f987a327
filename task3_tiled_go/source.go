// Package tiled is task 3: FlashAttention's forward pass in plain Go, over a
// simulated memory in which every byte is counted.
//
// README.md is the handout. You edit attention.go. `go doc -all flashlab/hbm`
// lists what a tile can do.
package tiled
