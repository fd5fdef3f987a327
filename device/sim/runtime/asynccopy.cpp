// asynccopy.cpp - cp.async: global to shared memory behind the thread's back.
// The copy is made when the thread waits for it. Until then the destination
// holds NaN and counts as pending, so that a thread that reads it is caught. The
// race detector sees the write twice, when it may begin and when it has ended.
#include <cstring>

#include "runtime.h"

using namespace simt;

namespace {
Finding copyFinding(const char *check, const char *kind, int line, const std::string &text) {
    Finding f;
    f.check = check;
    f.kind = kind;
    f.line = line;
    f.text = text;
    return f;
}

[[noreturn]] void refuse(Worker *w, int line, const std::string &text) {
    {
        Finding f = copyFinding("memcheck", "bad asynchronous copy", line, text);
        f.fatal = true;
        report(w, f);
    }
    stopKernel(w);
}

uint8_t *stateOf(Worker *w, Addr a) {
    return w->shared->state + (a - w->shared->lo);
}

void finish(Worker *w, const AsyncCopy &c) {
    if (w->checks & RACE) recordRace(w, w->shared, c.to, c.bytes, WRITE, c.pc);
    memcpy((void *)c.to, (const void *)c.from, c.bytes - c.zeros);
    memset((char *)c.to + c.bytes - c.zeros, 0, c.zeros);
    uint8_t *s = stateOf(w, c.to);
    for (unsigned i = 0; i < c.bytes; i++) s[i] = (s[i] & ~PENDING) | INITIALISED;
}
} // namespace

namespace simt {

void explainCopy(Worker *w, Addr a, unsigned n, Finding &f) {
    for (int t = 0; t < w->threads; t++)
        for (const AsyncCopy &c : w->fibers[t].copies) {
            if (c.to >= a + n || a >= c.to + c.bytes) continue;
            f.otherLine = c.line;
            f.otherThread = t;
            f.otherBlock = w->blockIndex;
            return;
        }
}

// A thread may return with copies on their way: a pipeline's last rounds often fetch what there is
// nothing to do with. Who uses what they bring is told (explainCopy), so this is a note.
void endCopies(Worker *w, Fiber *f) {
    if (f->copies.empty()) return;
    if (w->checks & INIT) {
        const AsyncCopy &c = f->copies.front();
        Finding x = copyFinding("note", "not waited for", c.line, "");
        x.pc = c.pc;
        x.op = WRITE;
        x.bytes = c.bytes;
        x.place = describe(w, c.to);
        report(w, x);
    }
    f->copies.clear();
}

} // namespace simt

extern "C" {

void simt_copy_async(void *to, const void *from, size_t bytes, size_t zeros, int line) {
    Worker *w = worker;
    Addr pc = (Addr)__builtin_return_address(0), target = (Addr)to;
    if (bytes != 4 && bytes != 8 && bytes != 16)
        refuse(w, line,
               "an asynchronous copy moves 4, 8 or 16 bytes, not " + std::to_string(bytes));
    if (zeros > bytes)
        refuse(w, line,
               "an asynchronous copy of " + std::to_string(bytes) + " bytes cannot have " +
                   std::to_string(zeros) + " of them zero");
    if (!w->shared->holds(target))
        refuse(w, line, "the destination of an asynchronous copy has to be in shared memory");
    if (!arena.holds((Addr)from) && zeros < bytes && !w->module->data.holds((Addr)from))
        refuse(w, line, "the source of an asynchronous copy has to be in global memory");
    if (((Addr)from | target) % bytes)
        refuse(w, line,
               "an asynchronous copy of " + std::to_string(bytes) +
                   " bytes needs both addresses to be multiples of " + std::to_string(bytes));
    // The counts know an instruction by its address, and want one kind and size of
    // access at each: the bytes of this call serve for several.
    Addr a = (Addr)from, end = a + bytes - zeros;
    unsigned shift = 0;
    for (unsigned piece = 16; piece; piece /= 2, shift += shift < 2) // 12 bytes are 8 and 4
        for (; a + piece <= end; a += piece) checkAccess(a, piece, READ, pc - shift);
    checkAccess(target, (unsigned)bytes, WRITE, pc - 3);
    uint8_t *s = stateOf(w, target);
    for (size_t i = 0; i < bytes; i++) s[i] = (s[i] & ~INITIALISED) | PENDING;
    memset(to, 0xff, bytes);
    Fiber *f = w->current;
    f->copies.push_back({target, (Addr)from, pc, (unsigned)bytes, (unsigned)zeros, line, f->group});
}

void simt_copy_commit() {
    worker->current->group++;
}

// All but the last groupsLeft groups that were committed are complete.
void simt_copy_wait(size_t groupsLeft) {
    Worker *w = worker;
    Fiber *f = w->current;
    size_t done = 0;
    while (done < f->copies.size() && f->copies[done].group + groupsLeft < f->group)
        finish(w, f->copies[done++]);
    f->copies.erase(f->copies.begin(), f->copies.begin() + (long)done);
}
}
