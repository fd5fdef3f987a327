// wgmmaregisters.cpp - the registers of wgmma's sums. The sums wait here, while the registers hold
// a number that no product gives: wgmma.wait_group fills them. Whoever reads or writes them before
// is told.
#include <algorithm>
#include <cstring>

#include "wgmma.h"

namespace simt {

namespace {
// A NaN, other than the one of memory that nothing has written.
constexpr uint32_t unfilled = 0x7fd1a5c3;

// The place of a thread's register among a warp's sums: two numbers if they are halves.
float *placeOf(Sums &s, unsigned thread, unsigned reg) {
    unsigned warp = thread / 32, lane = thread % 32, pair = reg * (s.type == SumF16 ? 2 : 1);
    unsigned block = pair / 4, h = pair / 2 % 2, c = pair % 2;
    return &s.values[((warp * (s.columns / 8) + block) * 16 + lane / 4 + 8 * h) * 8 + lane % 4 * 2 +
                     c];
}

void fromRegister(Sums &s, unsigned thread, unsigned reg, uint32_t bits) {
    float *v = placeOf(s, thread, reg);
    if (s.type == SumF16)
        v[0] = fromHalfBits((uint16_t)bits), v[1] = fromHalfBits((uint16_t)(bits >> 16));
    else
        memcpy(v, &bits, 4);
}

uint32_t toRegister(Sums &s, unsigned thread, unsigned reg) {
    const float *v = placeOf(s, thread, reg);
    uint32_t bits;
    if (s.type == SumF16)
        bits = toHalfBits(v[0]) | (uint32_t)toHalfBits(v[1]) << 16;
    else
        memcpy(&bits, v, 4);
    return bits;
}

void setFlight(Worker *w, WarpGroup &g, unsigned firstThread, unsigned warp) {
    bool any = false;
    for (auto &s : g.sums) any |= s->inFlight & bitOf(warp);
    for (unsigned l = 0; l < 32; l++) w->fibers[firstThread + 32 * warp + l].inFlight = any;
    Fiber *me = w->current;
    setOwnStack(w, me->inFlight ? noStack : ownStackOf(me));
}

// What somebody did to sums on their way.
void reportTouched(Worker *w, WarpGroup &g, Sums &s, unsigned warp, Op op, Addr pc, int line) {
    if (!(w->checks & SYNC)) return;
    if (!pc && (s.told & bitOf(warp))) return;
    s.told |= bitOf(warp);
    const char *kind = "sums on their way";
    size_t committed = g.groups[warp].empty() ? 0 : g.groups[warp].back();
    if (s.last >= committed) kind = "not committed";
    if (pc && seenBefore(w, kind, pc, s.pc)) return;
    Finding f;
    f.check = "synccheck";
    f.kind = kind;
    f.pc = pc;
    f.line = line;
    f.otherPc = s.pc;
    f.otherLine = s.line;
    f.op = op;
    f.bytes = pc ? 4 : 0;
    report(w, f);
}

// takeRegisters reads a warp's registers, and leaves them unfilled.
void takeRegisters(Worker *w, WarpGroup &g, Sums &s, unsigned warp, int line) {
    for (unsigned t = 32 * warp; t < 32 * warp + 32; t++)
        for (unsigned r = 0; r < s.registers; r++) {
            uint32_t *place = g.brought[t].sums[r];
            s.places[t * s.registers + r] = place;
            if (*place == unfilled && g.brought[t].adds)
                for (auto &other : g.sums)
                    if (other.get() != &s && (other->inFlight & bitOf(warp))) {
                        reportTouched(w, g, *other, warp, READ, 0, line);
                        break;
                    }
            fromRegister(s, t, r, *place);
            *place = unfilled;
        }
    s.inFlight |= bitOf(warp);
}

bool samePlaces(const WarpGroup &g, const Sums &s, unsigned columns, unsigned type) {
    if (s.columns != columns || s.type != type) return false;
    for (unsigned t = 0; t < 128; t++)
        if (memcmp(&s.places[t * s.registers], g.brought[t].sums, s.registers * sizeof(void *)))
            return false;
    return true;
}
} // namespace

// sumsOf finds what the products so far have left for these registers, or reads the registers.
Sums &sumsOf(Worker *w, WarpGroup &g, const Form &f, unsigned firstThread, int line) {
    std::shared_ptr<Sums> s;
    for (auto &known : g.sums)
        if (samePlaces(g, *known, f.columns, f.sum)) s = known;
    if (!s) {
        s = std::make_shared<Sums>();
        s->registers = f.registers(), s->columns = f.columns, s->type = f.sum;
        s->places.resize(128 * s->registers);
        s->values.resize(64 * f.columns);
        g.sums.push_back(s);
    }
    for (unsigned warp = 0; warp < 4; warp++)
        if (!(s->inFlight & bitOf(warp))) {
            takeRegisters(w, g, *s, warp, line);
            for (unsigned l = 0; l < 32; l++)
                w->fibers[firstThread + 32 * warp + l].inFlight = true;
        }
    if (!g.brought[0].adds) std::fill(s->values.begin(), s->values.end(), 0.f);
    setOwnStack(w, noStack);
    return *s;
}

// fill gives a warp the sums that are done.
void fill(Worker *w, WarpGroup &g, unsigned firstThread, unsigned warp, size_t done) {
    for (auto &s : g.sums) {
        if (!(s->inFlight & bitOf(warp)) || s->last >= done) continue;
        for (unsigned t = 32 * warp; t < 32 * warp + 32; t++)
            for (unsigned r = 0; r < s->registers; r++) {
                uint32_t *place = s->places[t * s->registers + r];
                if (LIKELY(*place == unfilled))
                    *place = toRegister(*s, t, r);
                else
                    reportTouched(w, g, *s, warp, WRITE, 0, s->line);
            }
        s->inFlight &= (uint8_t)~bitOf(warp);
        s->told &= (uint8_t)~bitOf(warp);
    }
    std::vector<std::shared_ptr<Sums>> left;
    for (auto &s : g.sums)
        if (s->inFlight) left.push_back(s);
    g.sums.swap(left);
    setFlight(w, g, firstThread, warp);
}

// A thread that returns before its sums are there.
void leaveProducts(Worker *w, Fiber *f) {
    auto &g = w->hopper->groups[f->warp / 4];
    if (!g) return;
    for (auto &s : g->sums)
        if (s->inFlight & bitOf(f->warp % 4)) {
            reportTouched(w, *g, *s, f->warp % 4, READ, 0, s->line);
            s->inFlight &= (uint8_t)~bitOf(f->warp % 4);
        }
    f->inFlight = false;
}

void touchLocal(Worker *w, Addr a, unsigned n, Op op, Addr pc) {
    w->steps--; // it is not counted elsewhere either
    Fiber *f = w->current;
    f->deepest = std::min(f->deepest, a);
    if (!w->usesHopper) return;
    auto &g = w->hopper->groups[f->warp / 4];
    if (!g) return;
    for (auto &s : g->sums) {
        if (!(s->inFlight & bitOf(f->warp % 4))) continue;
        uint32_t *const *places = &s->places[f->id % 128 * s->registers];
        Addr low = (Addr)places[0], high = (Addr)places[s->registers - 1];
        if (high - low == 4 * (s->registers - 1) && (a + n <= low || a >= high + 4)) continue;
        for (unsigned r = 0; r < s->registers; r++)
            if ((Addr)places[r] < a + n && a < (Addr)places[r] + 4)
                return reportTouched(w, *g, *s, f->warp % 4, op, pc, 0);
    }
}

} // namespace simt
