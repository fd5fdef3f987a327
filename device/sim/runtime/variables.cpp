// variables.cpp - a module's variables as Go sees them: where they are, and whether anything has
// written to them.
#include <algorithm>
#include <cstring>

#include "runtime.h"

namespace simt {

Module *moduleAt(Addr a) {
    for (int i = 0; Module *m = moduleById(i); i++)
        if (m->data.holds(a)) return m;
    return nullptr;
}

const Symbol *variableNamed(const Module *m, const std::string &name) {
    for (const Symbol &s : m->symbols)
        if (!s.shared && (s.owner.empty() ? s.name : s.owner + "::" + s.name) == name) return &s;
    return nullptr;
}

bool withinVariable(Addr a, uint64_t bytes) {
    const Module *m = moduleAt(a);
    return m && std::any_of(m->symbols.begin(), m->symbols.end(), [&](const Symbol &s) {
               return !s.shared && a >= s.lo && a < s.hi && bytes <= s.hi - a;
           });
}

// A constant without an initialiser is undefined until Go sets it, though CUDA has zeros there.
// What has another value has been given one by its type.
void forgetUnset(Module *m, const std::vector<std::string> &unset) {
    for (const Symbol &s : m->symbols) {
        if (s.shared || std::find(unset.begin(), unset.end(), s.name) == unset.end()) continue;
        const char *at = (const char *)s.lo;
        if (std::all_of(at, at + (s.hi - s.lo), [](char c) { return !c; }))
            setState(s.lo, s.hi - s.lo, false);
    }
}

} // namespace simt
