// server.cpp - the simulator's main loop: commands from the host on standard
// input, one answer each on standard output. Numbers are little-endian; a
// message is its length (4 bytes), an operation or a status (1 byte), a body.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime.h"

namespace simt {
namespace {

enum Operation : uint8_t {
    CONFIGURE = 1,
    ALLOCATE,
    FREE,
    COPY_IN,
    COPY_OUT,
    SET,
    LOAD,
    LAUNCH,
    REPORT,
    RESET,
    ATTRIBUTES,
    PRINTS,
};

enum Status : uint8_t { OK = 0, REFUSED = 1, STOPPED = 2, NO_MEMORY = 3 };

uint64_t timeout; // milliseconds a launch may take
unsigned checks;

bool readAll(void *to, size_t n) {
    for (char *p = (char *)to; n > 0;) {
        ssize_t got = read(0, p, n);
        if (got <= 0) return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

bool writeAll(const void *from, size_t n) {
    for (const char *p = (const char *)from; n > 0;) {
        ssize_t put = write(1, p, n);
        if (put <= 0) return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}

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

// Reader takes a message apart; past the end everything is zero and ok is false.
struct Reader {
    const char *p;
    const char *end;
    bool ok = true;
    template <class T> T number() {
        T v{};
        if ((size_t)(end - p) < sizeof v) {
            ok = false;
            return v;
        }
        memcpy(&v, p, sizeof v);
        p += sizeof v;
        return v;
    }
    std::string text() {
        uint32_t n = number<uint32_t>();
        if (!ok || (size_t)(end - p) < n) {
            ok = false;
            return "";
        }
        p += n;
        return std::string(p - n, n);
    }
};

bool configure(Reader &r) {
    checks = r.number<uint32_t>();
    uint64_t steps = r.number<uint64_t>();
    timeout = r.number<uint64_t>();
    uint64_t memory = r.number<uint64_t>();
    initScheduler((int)r.number<uint32_t>(), checks, steps);
    initMemory(memory, checks & RACE);
    ShowOnly only;
    only.byThread = r.number<uint8_t>();
    only.thread = r.number<Index3>();
    only.byBlock = r.number<uint8_t>();
    only.block = r.number<Index3>();
    showOnly(only);
    initTraffic();
    initSignals();
    return answer(OK, "");
}

bool allocateCommand(Reader &r) {
    uint64_t bytes = r.number<uint64_t>();
    std::string name = r.text(), error;
    Addr a;
    if (!allocate(bytes, name, &a, &error)) return answer(NO_MEMORY, error);
    return answer(OK, &a, 8);
}

bool freeCommand(Reader &r) {
    std::string error;
    return release(r.number<uint64_t>(), &error) ? answer(OK, "") : answer(REFUSED, error);
}

bool copyIn(Reader &r) {
    Addr a = r.number<uint64_t>();
    uint64_t n = (uint64_t)(r.end - r.p);
    std::string error;
    if (!withinAllocation(a, n, &error)) return answer(REFUSED, error);
    memcpy((void *)a, r.p, n);
    setState(a, n, true);
    return answer(OK, "");
}

bool copyOut(Reader &r) {
    Addr a = r.number<uint64_t>();
    uint64_t n = r.number<uint64_t>(), at;
    std::string error;
    if (!withinAllocation(a, n, &error)) return answer(REFUSED, error);
    if ((checks & INIT) && firstUninitialised(a, n, &at)) {
        Finding f;
        f.check = "initcheck";
        f.kind = "never written";
        f.bytes = 1;
        f.place = describe(nullptr, a + at);
        report(nullptr, f);
    }
    return answer(OK, (void *)a, n);
}

bool setCommand(Reader &r) {
    Addr a = r.number<uint64_t>();
    uint64_t n = r.number<uint64_t>();
    uint8_t value = r.number<uint8_t>(), poison = r.number<uint8_t>();
    std::string error;
    if (!withinAllocation(a, n, &error)) return answer(REFUSED, error);
    memset((void *)a, poison ? 0xff : value, n);
    setState(a, n, !poison);
    return answer(OK, "");
}

bool load(Reader &r) {
    std::string path = r.text(), error;
    std::vector<std::string> constants(r.number<uint32_t>());
    for (auto &name : constants) name = r.text();
    Module *m = loadModule(path, constants, &error);
    if (!m) return answer(REFUSED, error);
    return answer(OK, &m->id, 4);
}

bool launchCommand(Reader &r) {
    Module *m = moduleById(r.number<int32_t>());
    std::string name = r.text(), error;
    LaunchShape s;
    s.grid = r.number<Index3>();
    s.block = r.number<Index3>();
    s.dynamicBytes = r.number<uint64_t>();
    uint32_t count = r.number<uint32_t>();
    const KernelEntry *k = m ? findKernel(m, name) : nullptr;
    if (!r.ok || !k) return answer(REFUSED, "no such kernel is loaded");
    if ((int)count != k->count) return answer(REFUSED, "the number of arguments is wrong");
    std::vector<uint64_t> values(count);
    std::vector<void *> args(count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = r.number<uint32_t>();
        values[i] = r.number<uint64_t>();
        args[i] = &values[i];
        if (size != k->sizes[i])
            return answer(REFUSED,
                          "argument " + std::to_string(i + 1) + " has " + std::to_string(size) +
                              " bytes, the kernel's parameter has " + std::to_string(k->sizes[i]));
    }
    startTimer(timeout);
    LaunchResult result = launch(m, k, s, args.data(), &error);
    stopTimer();
    if (result == LaunchResult::Refused) return answer(REFUSED, error);
    return answer(result == LaunchResult::Stopped ? STOPPED : OK, "");
}

bool attributes(Reader &r) {
    Module *m = moduleById(r.number<int32_t>());
    std::string name = r.text();
    const KernelEntry *k = m ? findKernel(m, name) : nullptr;
    if (!r.ok || !k) return answer(REFUSED, "no such kernel is loaded");
    uint64_t shared = staticShared(m, k);
    return answer(OK, &shared, 8);
}

bool reportCommand() {
    return answer(OK, "{\"findings\":" + findingsJson() + ",\"kernels\":" + trafficJson() + "}");
}

bool obey(uint8_t operation, Reader r) {
    switch (operation) {
    case CONFIGURE:
        return configure(r);
    case ALLOCATE:
        return allocateCommand(r);
    case FREE:
        return freeCommand(r);
    case COPY_IN:
        return copyIn(r);
    case COPY_OUT:
        return copyOut(r);
    case SET:
        return setCommand(r);
    case LOAD:
        return load(r);
    case LAUNCH:
        return launchCommand(r);
    case REPORT:
        return reportCommand();
    case RESET:
        releaseAll();
        resetFindings();
        resetTraffic();
        resetPrints();
        return answer(OK, "");
    case ATTRIBUTES:
        return attributes(r);
    case PRINTS:
        return answer(OK, takePrints());
    }
    return answer(REFUSED, "unknown operation");
}

} // namespace
} // namespace simt

// serve answers until the host has gone.
static int serve() {
    std::vector<char> message;
    for (;;) {
        uint32_t length;
        if (!simt::readAll(&length, 4)) return 0;
        if (length < 1 || length > (1u << 30)) return 2;
        message.resize(length);
        if (!simt::readAll(message.data(), length)) return 2;
        simt::Reader r{message.data() + 1, message.data() + length};
        if (!simt::obey((uint8_t)message[0], r)) return 1;
    }
}

// Without destructors: the workers still wait on what these would take away.
int main() {
    _exit(serve());
}
