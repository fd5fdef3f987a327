// workers.h - what runs blocks: an OS thread each, the first being the main thread.
#pragma once
#include "runtime.h"

namespace simt {

// hire makes sure of so many workers, whose first `threads` fibers have guarded stacks.
bool hire(uint32_t count, int threads, std::string *error);
// together runs work on the first `team` workers at once, and returns when all are done.
void together(unsigned team, void (*work)(Worker *w, void *what), void *what);
extern unsigned ordinary; // workers for launches whose blocks need not live at once

} // namespace simt
