// Yours, if you have a use for it: a header that decode.cu and append.cu may include, for what they
// share, or to keep decode.cu short. The reference has the loads and the codes of a tile here.
// #include "tile.cuh" takes it in, with DIM and BITS defined. Else leave it as it is.

#pragma once
