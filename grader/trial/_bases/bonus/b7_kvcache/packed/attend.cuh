// Yours, if you have a use for it, as tile.cuh is. The reference has scores, softmax and values
// here.

#pragma once
