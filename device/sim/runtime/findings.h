// findings.h - what a check reports, and how a worker counts it again and again.
#pragma once
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "shadow.h"

namespace simt {

// Where in memory it was: which array, and where in that.
struct Place {
    std::string space, name, owner;
    int64_t offset = 0; // less than 0: before it begins
    uint64_t size = 0;
    std::string note;
    bool dynamic = false;    // shared memory of the size that the launch asks for
    std::vector<int> passed; // the kernel's arguments that point into it
};

struct Finding {
    std::string check, kind;
    Addr pc = 0, otherPc = 0;
    int line = 0, column = 0, otherLine = 0; // where the code told its line (barriers)
    Op op = READ;
    unsigned bytes = 0;
    Place place;
    int thread = -1; // linear index; report fills in the running one
    uint32_t block = 0;
    int otherThread = -1;
    uint32_t otherBlock = 0;
    Op otherOp = READ;
    std::string text;
    Addr at = 0;            // of a race
    bool elsewhere = false; // it is at other addresses of its block, too
    bool readFirst = false; // of two writes: one of them came after its own thread's read
    bool oneWarp = false;   // all such pairs are of one of the block's warps, which has several
    bool fatal = false;
    uint64_t count = 1;
};

// What makes two findings one: check, kind, both instructions, both lines.
typedef std::tuple<std::string, std::string, Addr, Addr, int, int> FindingKey;

// A finding that a worker has from an earlier block, in a further one.
struct Repeat {
    uint32_t block, finding;
    uint64_t count;
};

// Where the running block counts a finding: in `repeats`, or in `found` itself.
struct Again {
    uint32_t blockEpoch, index;
    bool earlier;
};

const Finding &stoppedBy();              // what stopped the last kernel that was stopped
size_t keptFindings();                   // of all launches so far
std::string quote(const std::string &s); // as JSON has it

} // namespace simt
