// host.h - a program's own host code and CUDA's runtime for it, in the simulator's process: what
// their parts share. Work that CUDA queues is done at once. What the host may know of it is kept
// apart: see streams.cpp.
#pragma once
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "types.h"
#include "runtime.h"

namespace simt::program {

// ---- hostmain.cpp ---------------------------------------------------------------
struct Options {
    std::string so, arguments;
    std::vector<std::string> constants, variables, managed;
    uint64_t memory = 4ull << 30, steps = 2000000000, timeout = 60000;
    unsigned checks = 0;
    int workers = 1, report = 3, reply = 4;
    bool estimate = false; // the counts are to tell what an estimate of time needs
};
extern Options options;
extern Module *module;
void onDeviceThread(void (*work)(void *), void *what); // does it there, and waits
template <class F> void onDevice(F f) {
    onDeviceThread([](void *what) { (*(F *)what)(); }, &f);
}
extern std::recursive_mutex lock; // whoever is in CUDA's runtime holds it

// ---- hostfindings.cpp -------------------------------------------------------------
struct Site {
    std::string file;
    int line = 0;
};
Site here(); // of the call of CUDA's runtime that is being served
// told keeps a finding of the host's at that line, or at an instruction. Once for each place.
void told(const char *kind, std::string text, const char *hint = "", bool fatal = false);
void toldAt(Site site, Addr pc, const char *kind, std::string text, const char *hint = "",
            bool fatal = false);
void note(Site site, const char *kind, std::string text, const char *hint = "");
void sendReport(bool last, int status = 0);
void sendNews();                    // if there is any
std::string wordAt(const Site &at); // the variable behind the first & of a line: what it allocates
[[noreturn]] void die(int signal);  // as a fault would

// ---- hosterrors.cpp ---------------------------------------------------------------
cudaError_t failed(cudaError_t e); // what cudaGetLastError gives next
void launchFailed(cudaError_t e);  // the same, of a launch, that returns nothing
void launchAsked();                // its error has been handed over
void faulted(cudaError_t e);       // a kernel: told at the next synchronisation
cudaError_t settle();              // at a synchronisation
cudaError_t enter();   // what every function begins with: an error that no other call gets past
void refuseInKernel(); // dynamic parallelism
void forgetErrors();   // cudaDeviceReset
void notesOnErrors();  // at the end

// ---- hostmemory.cpp ---------------------------------------------------------------
enum class Kind { Host, Device, Managed, Pinned, Variable };
struct Array {
    Addr at = 0;
    uint64_t bytes = 0;
    Kind kind = Kind::Host;
    std::string name;
    Site site;
    bool freed = false, known = false; // known: all of it counts as written
};
Array *arrayAt(Addr a); // null: no allocation is or was there
// memoryAt is what an address points to. Of host memory only the kind is filled in.
Array memoryAt(const void *p);
const Symbol *variableAt(Addr a); // a __device__ or __constant__ one
bool isManaged(const std::string &name);
void refresh(Array *a); // looks for what the host has written unseen
void refreshAll();
const char *nameOf(Kind k);
void notesOnLeaks(bool reset);
void freeAll();
bool isVariable(const std::string &name, const std::string &owner);

// ---- hostwatch.cpp ----------------------------------------------------------------
void watchHost(Addr a, size_t n, Op op, Addr pc); // every access of the host's
void watchFree(void *p, Addr pc);

// ---- hostcopies.cpp ---------------------------------------------------------------
// part is one row of a copy, checked.
cudaError_t copy(const char *what, void *to, const void *from, size_t n, cudaMemcpyKind kind);

// ---- hoststreams.cpp --------------------------------------------------------------
struct Stream;
Stream *streamOf(cudaStream_t s); // null: it is none
typedef std::map<const Stream *, uint64_t> Known;
uint64_t issue(Stream *s); // one more piece of work: its number
// leaves says that work which the host has not yet waited for uses memory that the host can reach,
// too.
void leaves(Stream *s, Addr lo, Addr hi, bool writes, const char *what);
void waitFor(Stream *s); // the host does
void waitForAll();
extern size_t pendingUses;
void checkPending(Addr a, size_t n, Op op, Addr pc); // of the host's
void forgetStreams();

// ---- hostkernels.cpp --------------------------------------------------------------
const KernelEntry *findKernels(void *handle, Addr base, const std::string &path);
const KernelEntry *kernelAt(const void *address);
const KernelEntry *kernelOf(const simt_kernel_info *info);

// ---- hostlaunch.cpp ---------------------------------------------------------------
void showPrints(); // at a synchronisation
void notesOnPrints();

// ---- hostdevice.cpp ---------------------------------------------------------------
const cudaDeviceProp &properties();

} // namespace simt::program

extern "C" {
const char *cudaGetErrorString(cudaError_t e);
const char *cudaGetErrorName(cudaError_t e);
void simt_trap(const char *what, int line);
}

#define SIMT_LOCK()                                                                                \
    if (simt::worker) simt::program::refuseInKernel();                                             \
    std::lock_guard<std::recursive_mutex> hold(simt::program::lock)
#define SIMT_ENTER()                                                                               \
    SIMT_LOCK();                                                                                   \
    if (cudaError_t e = simt::program::enter()) return e
