// skips.h - threads that skip a barrier at which others wait, and go on: see skips.cpp.
#pragma once
#include "traffic.h"

namespace simt {

// watchSkips looks at what a warp has done since its last barrier, before that is counted.
void watchSkips(Worker *w, int warp, const Trace &t);
// leftBefore notes that a warp, some of whose lanes have returned, waits at a barrier.
void leftBefore(Worker *w, int warp, int line);
// noteEnded tells of threads that have ended while others wait at a barrier.
void noteEnded(Worker *w, int line);

} // namespace simt
