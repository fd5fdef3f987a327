// Optional: weights in NVFP4, read and multiplied as kernels.cu does it. A block of 16 has a scale
// of eight bits, and all of them share one float32.
//
//   codes   [outputs, hidden] of four bits, E2M1       x     [rows, hidden] of halves
//   scales  [outputs, ⌈hidden / 16⌉], E4M3             bias  [outputs] of halves
//   tensor  one float32
//
// It is compiled by itself, from NVFP4Source. You may hand in without it: nothing scored needs it.
