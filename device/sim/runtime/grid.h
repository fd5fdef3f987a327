// grid.h - cooperative launches: all blocks live at once, each on a worker of its own, and meet
// at barriers of the grid.
#pragma once
#include <string>

#include "runtime.h"

namespace simt {

// resident tells whether a GPU, and this simulator, hold all blocks of a launch at once.
bool resident(const LaunchShape &s, const KernelEntry *k, size_t fixedShared, std::string *error);

void startGrid(Module *m, uint32_t blocks);
void endGrid();
bool cooperative(); // the running launch
// leaveGrid is for a block that is done, or stopped for a reason of its own.
void leaveGrid(bool stopped);

} // namespace simt
