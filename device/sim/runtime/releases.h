// releases.h - what blocks make known to each other: by a fence and an atomic, or a flag.
#pragma once
#include "runtime.h"

namespace simt {

void startReleases(uint32_t blocks);
// release: what this thread knows of its block's accesses is known to whoever comes later;
// acquire: this block has come, and knows what had been made known.
void release(Worker *w);
void acquire(Worker *w);
uint16_t intervalOf(const Worker *w); // between two of the block's barriers
// comesAfter tells whether a block's access is behind an atomic to which it came after another
// block's; relies, whether that had made the other's access known; lacksFence, whether a barrier
// was there, and no fence behind the other's access.
bool comesAfter(uint32_t block, const Seen &access, uint32_t otherBlock);
bool relies(uint32_t block, const Seen &access, uint32_t otherBlock, const Seen &other,
            bool atomic); // the other's is
bool lacksFence(uint32_t block, const Seen &access, uint32_t otherBlock, const Seen &other);

} // namespace simt
