// server.cpp - the simulator's main loop: requests on standard input, one answer each
// on standard output. Package device/protocol says what they look like.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "message.h"
#include "prints.h"
#include "samples.h"
#include "tables.h"
#include "tensormap.h"

namespace simt {
namespace {

enum Operation : uint8_t {
    ALLOCATE = 1,
    FREE,
    COPY_IN,
    COPY_OUT,
    SET,
    POISON,
    KERNEL,
    LAUNCH,
    ATTRIBUTES,
    CONFIGURE,
    LOAD,
    REPORT,
    RESET,
    PRINTS,
    VARIABLE,
};

enum Status : uint8_t { OK = 0, REFUSED = 1, STOPPED = 2, NO_MEMORY = 3 };

constexpr uint32_t maxMessage = 128u << 20; // bytes
constexpr uint64_t mostArgument = 4096;     // bytes

uint64_t timeout; // milliseconds a launch may take
unsigned checks;

bool answer(Status status, const void *body, size_t n) {
    char head[5];
    uint32_t length = (uint32_t)n + 1;
    memcpy(head, &length, 4);
    head[4] = (char)status;
    return writeAll(head, 5) && writeAll(body, n);
}

bool answer(Status status, const std::string &text) {
    return answer(status, text.data(), text.size());
}

bool answer(uint64_t number) {
    return answer(OK, &number, sizeof number);
}

// A kernel's number is its module's and its place in that.
struct Numbered {
    Module *module;
    const KernelEntry *kernel;
    explicit Numbered(uint64_t number) : module(moduleById((int)(number >> 32))), kernel(nullptr) {
        if (!module) return;
        const KernelEntry *k = module->kernels;
        for (auto i = (uint32_t)number; i > 0 && k->name; i--) k++;
        if (k->name) kernel = k;
    }
};

const char *const noKernel = "no such kernel is loaded";

bool configure(Reader &r) {
    for (unsigned check : {MEM, RACE, INIT, SYNC, TRAFFIC})
        if (r.number()) checks |= check;
    uint64_t steps = r.number();
    timeout = r.number();
    uint64_t memory = r.number();
    limitSteps(steps);
    int threads = (int)r.number();
    if (r.number()) modelCache();
    initScheduler(threads, checks);
    initMemory(memory, checks & RACE);
    ShowOnly only;
    only.byThread = r.number();
    if (only.byThread) only.thread = r.triple();
    only.byBlock = r.number();
    if (only.byBlock) only.block = r.triple();
    showOnly(only);
    if (r.number()) askForSamples();
    sampleBlocks((uint32_t)r.number());
    initTraffic();
    initSignals();
    return answer(OK, "");
}

bool allocateCommand(Memory m) {
    if (!allocate(m.bytes, m.name, &m.at, &m.error)) return answer(NO_MEMORY, m.error);
    return answer(m.at);
}

bool freeCommand(Memory m) {
    return release(m.at, &m.error) ? answer(OK, "") : answer(REFUSED, m.error);
}

bool copyIn(Reader &r) {
    Memory m(r);
    if (!m.isThere()) return answer(REFUSED, m.error);
    if (m.bytes != r.left()) return answer(REFUSED, "the bytes are more or fewer than it says");
    memcpy((void *)m.at, r.p, m.bytes);
    setState(m.at, m.bytes, true);
    return answer(OK, "");
}

bool copyOut(Memory m) {
    if (!m.isThere()) return answer(REFUSED, m.error);
    if (m.bytes >= maxMessage) return answer(REFUSED, "too much for one message");
    uint64_t offset;
    if ((checks & INIT) && firstUninitialised(m.at, m.bytes, &offset)) {
        Finding f;
        f.check = "initcheck";
        f.kind = "never written";
        f.bytes = 1;
        f.place = describe(nullptr, m.at + offset);
        report(nullptr, f);
    }
    return answer(OK, (void *)m.at, m.bytes);
}

bool fill(Memory m, int value, bool written) {
    if (!m.isThere()) return answer(REFUSED, m.error);
    memset((void *)m.at, value, m.bytes);
    setState(m.at, m.bytes, written);
    return answer(OK, "");
}

bool set(Reader &r) {
    Memory m(r);
    return fill(m, (int)r.number(), true);
}

bool load(Reader &r) {
    std::string path = r.text(), error;
    std::vector<std::string> constants = r.texts(), unset = r.texts();
    Module *m = loadModule(path, constants, &error);
    if (m) forgetUnset(m, unset);
    return m ? answer((uint64_t)m->id) : answer(REFUSED, error);
}

bool variableCommand(Reader &r) {
    Module *m = moduleById((int)r.number());
    const Symbol *s = m ? variableNamed(m, r.text()) : nullptr;
    if (!s) return answer(REFUSED, "no such variable");
    const uint64_t where[] = {s->lo, s->hi - s->lo};
    return answer(OK, where, sizeof where);
}

bool kernelCommand(Reader &r) {
    Module *m = moduleById((int)r.number());
    const KernelEntry *k = m ? findKernel(m, r.text()) : nullptr;
    if (!k) return answer(REFUSED, noKernel);
    struct {
        uint64_t number, length;
    } head = {(uint64_t)m->id << 32 | (uint64_t)(k - m->kernels), 0};
    std::string params; // p8 i4: each one's kind and bytes
    for (int i = 0; i < k->count; i++)
        params += std::string(i ? " " : "") + k->kinds[i] + std::to_string(k->sizes[i]);
    head.length = params.size();
    return answer(OK, std::string((char *)&head, sizeof head) + params);
}

bool launchCommand(Reader &r) {
    Numbered found(r.number());
    LaunchShape s;
    s.grid = r.triple();
    s.block = r.triple();
    s.dynamicBytes = r.number();
    s.cooperative = r.number();
    s.cluster = r.triple();
    uint64_t count = r.number();
    const KernelEntry *k = found.kernel;
    if (!k) return answer(REFUSED, noKernel);
    if (count != (uint64_t)k->count) return answer(REFUSED, "the number of arguments is wrong");
    std::vector<std::vector<uint64_t>> values(count);
    std::vector<void *> args(count);
    std::vector<TensorMap> maps(count);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t size = r.number();
        if (size > mostArgument)
            return answer(REFUSED, "an argument of " + std::to_string(size) +
                                       " bytes: CUDA passes " + std::to_string(mostArgument) +
                                       " at most");
        values[i].resize(size / 8 + 3); // 16 bytes more, to align
        auto *at = (uint64_t *)(((uintptr_t)values[i].data() + 15) & ~(uintptr_t)15);
        args[i] = at;
        at[0] = r.number();
        if (r.number()) {
            std::string error;
            if (!readMap(r, &maps[i], &error)) return answer(REFUSED, error);
            args[i] = &maps[i];
        }
        uint64_t more = r.number(); // of what does not fit into a number: all its bytes
        if (more && more != size)
            return answer(REFUSED, "an argument's bytes are more or fewer than it says");
        for (uint64_t j = 0; j < more && r.ok; j++) ((char *)at)[j] = (char)r.number();
        if (size != k->sizes[i])
            return answer(REFUSED,
                          "argument " + std::to_string(i + 1) + " has " + std::to_string(size) +
                              " bytes, the kernel's parameter has " + std::to_string(k->sizes[i]));
    }
    if (!r.ok) return answer(REFUSED, "the message breaks off");
    std::string error;
    startTimer(timeout);
    LaunchResult result = launch(found.module, k, s, args.data(), &error);
    stopTimer();
    if (result == LaunchResult::Refused) return answer(REFUSED, error);
    return answer(result == LaunchResult::Stopped ? STOPPED : OK, "");
}

// What is not known about a kernel is -1: here it is code for this machine's CPU, whose
// registers say nothing about a GPU's.
bool attributes(Reader &r) {
    Numbered found(r.number());
    if (!found.kernel) return answer(REFUSED, noKernel);
    int64_t known[] = {-1, (int64_t)staticShared(found.module, found.kernel), -1, maxThreads};
    return answer(OK, known, sizeof known);
}

bool reportCommand() {
    return answer(OK, "{\"findings\":" + findingsJson() + ",\"kernels\":" + trafficJson() +
                          ",\"tables\":" + tablesJson() + "}");
}

bool obey(uint8_t operation, Reader r) {
    switch (operation) {
    case ALLOCATE:
        return allocateCommand(Memory(r));
    case FREE:
        return freeCommand(Memory(r));
    case COPY_IN:
        return copyIn(r);
    case COPY_OUT:
        return copyOut(Memory(r));
    case SET:
        return set(r);
    case POISON:
        return fill(Memory(r), 0xff, false);
    case KERNEL:
        return kernelCommand(r);
    case LAUNCH:
        return launchCommand(r);
    case ATTRIBUTES:
        return attributes(r);
    case CONFIGURE:
        return configure(r);
    case LOAD:
        return load(r);
    case REPORT:
        return reportCommand();
    case RESET:
        releaseAll();
        resetFindings();
        resetTraffic();
        resetSamples();
        resetPrints();
        resetTables();
        return answer(OK, "");
    case PRINTS:
        return answer(OK, takePrints());
    case VARIABLE:
        return variableCommand(r);
    }
    return answer(REFUSED, "unknown operation");
}

} // namespace
} // namespace simt

// serve answers until there are no more requests.
static int serve() {
    std::vector<char> message;
    for (;;) {
        uint32_t length;
        if (!simt::readAll(&length, 4)) return 0;
        if (length < 1 || length > simt::maxMessage) return 2;
        message.resize(length);
        if (!simt::readAll(message.data(), length)) return 2;
        simt::Reader r{message.data() + 1, message.data() + length};
        if (!simt::obey((uint8_t)message[0], r)) return 1;
    }
}

// A whole program (device/program) brings this.
extern "C" __attribute__((weak)) int simt_program(int argc, char **argv);

// Without destructors: the workers still wait on objects that these would destroy.
int main(int argc, char **argv) {
    _exit(simt_program ? simt_program(argc, argv) : serve());
}
