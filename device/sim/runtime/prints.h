// prints.h - what kernels print.
#pragma once
#include "runtime.h"

namespace simt {

// Whose printf the Go side wants to see; everybody's without it.
struct ShowOnly {
    bool byThread = false, byBlock = false;
    Index3 thread{}, block{};
};
void showOnly(const ShowOnly &s);
void keepPrints(size_t bytes); // that wait to be taken, at most
void print(Worker *w, Index3 block, const char *text);
void endPrints(const KernelEntry *k, const LaunchShape &s, uint32_t lastBlock);
std::string takePrints();
void resetPrints();

} // namespace simt
