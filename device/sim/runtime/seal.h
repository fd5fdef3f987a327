// seal.h - what a kernel must not alter is compared at the end of its launch with what it was.
#pragma once

namespace simt {

void sealState();    // as a launch begins
void sealFinding();  // one has been kept
void compareState(); // as it ends, before its findings are merged

} // namespace simt
