// collective.h - operations that a warp does as one (include/simt/warp.h).
#pragma once
#include "runtime.h"

namespace simt {

struct Gathering {
    void (*work)(void *const *lanes);
    void *mine;
    const char *all32; // the operation that needs all lanes, or null
};

// together brings all lanes of a warp to one place, and back when the work is done.
void together(const Gathering &g, int line);

} // namespace simt
