// spinning.h - blocks of a plain launch that wait for one that has not begun, and cannot: as long
// as they wait, no worker is free for it.
#pragma once
#include <vector>

#include "runtime.h"

namespace simt {

// Spinning is what a worker has seen of its block's threads that look again and again.
struct Spinning {
    uint64_t looks = 0,
             due = 0;    // since it last made sure that nobody does anything else; and when next
    uint32_t rounds = 0; // how often that was so, without a break
    std::vector<uint32_t>
        seen; // by worker: how often it was so there, when this one's rounds began
};

void startSpinning(unsigned team);
// spin is called before a thread looks once more, and lets others run; spun, behind that.
void spin(Worker *w, Spinning &s, Addr pc);
inline void spun(Worker *w) {
    w->current->spunAt = w->steps;
}
// launch.cpp: whether there are blocks that no worker has taken, or one that was stopped.
bool blocksToCome();
bool someStopped();

} // namespace simt
