// message.h - the bodies of messages (package device/protocol) taken apart and put
// together.
#pragma once
#include <unistd.h>

#include <cstring>

#include "runtime.h"

namespace simt {

// Messages come on standard input, and go to standard output.
inline bool readAll(void *to, size_t n) {
    for (char *p = (char *)to; n > 0;) {
        ssize_t got = read(0, p, n);
        if (got <= 0) return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

inline bool writeAll(const void *from, size_t n) {
    for (const char *p = (const char *)from; n > 0;) {
        ssize_t put = write(1, p, n);
        if (put <= 0) return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}

// Reader takes a body apart; past the end everything is zero and ok is false.
struct Reader {
    const char *p;
    const char *end;
    bool ok = true;
    size_t left() const { return (size_t)(end - p); }
    uint64_t number() {
        uint64_t v = 0;
        if (left() < sizeof v) {
            ok = false;
            p = end;
            return 0;
        }
        memcpy(&v, p, sizeof v);
        p += sizeof v;
        return v;
    }
    Index3 triple() {
        uint64_t x = number(), y = number(), z = number();
        ok = ok && (x | y | z) >> 32 == 0;
        return {(uint32_t)x, (uint32_t)y, (uint32_t)z};
    }
    std::string text() {
        uint64_t n = number();
        if (left() < n) {
            ok = false;
            n = left();
        }
        p += n;
        return std::string(p - n, n);
    }
    std::vector<std::string> texts() {
        std::vector<std::string> all;
        for (uint64_t n = number(); n > 0 && ok; n--) all.push_back(text());
        return all;
    }
};

// Memory is device memory that a request names.
struct Memory {
    Addr at;
    uint64_t bytes;
    std::string name, error;
    explicit Memory(Reader &r) : at(r.number()), bytes(r.number()), name(r.text()) {}
    bool isThere() { return withinAllocation(at, bytes, &error); }
};

inline void put(std::string &body, uint64_t n) {
    body.append((const char *)&n, sizeof n);
}

inline void put(std::string &body, Index3 i) {
    for (uint32_t n : {i.x, i.y, i.z}) put(body, n);
}

inline void put(std::string &body, const std::string &s) {
    put(body, s.size());
    body += s;
}

} // namespace simt
