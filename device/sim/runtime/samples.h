// samples.h - what `make show` draws of a launch, for who asked: of each instruction the worst
// request of shared memory, how often each part of each array was read and written, and one
// block, barrier by barrier. All of it is bounded, and none of it is kept unless it was asked for.
#pragma once
#include "traffic.h"

namespace simt {

struct Samples;  // what a worker has seen of the running launch
struct Timeline; // of its running block, if that is the one to draw

void askForSamples(); // of all launches from now on
bool samplesAsked();
void startSamples(const KernelEntry *k, uint32_t blocks);
void endSamples(Module *m, const KernelEntry *k); // k is null for a kernel that was stopped
std::string samplesJson(const std::string &kernel);
void resetSamples();

void sampleRequest(Worker *w, int warp, const Trace &t, const Request &r);
void sampleRange(Worker *w, Addr a, uint64_t bytes, Op op); // of device memory

// ---- timeline.cpp -----------------------------------------------------------------
void forgetTimeline();
void startTimeline(Worker *w); // of the block that begins
void endTimeline(Worker *w);
void chargeSteps(Worker *w);          // to the thread that has run until now
void endStretch(Worker *w, int line); // at a barrier; line 0 is the end of the block
void noteLanes(Worker *w, int warp, const Request &r);
std::string timelineJson(const Module *m); // "" if there is none

// ---- memory.cpp -------------------------------------------------------------------
struct Array {
    Addr lo;
    uint64_t bytes;
    std::string name;
};
std::vector<Array> liveArrays(); // in the order of their addresses

} // namespace simt
