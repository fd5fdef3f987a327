// printf.cpp - a kernel's printf. It never hands a kernel's format to the C library as it
// is: %n would write, and %s read, where no check looks. So each conversion is taken by
// itself, and a string is read as the kernel would read it, byte by byte.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "access.h"
#include "prints.h"

extern "C" {
extern __thread simt::Index3 simt_blockIdx;
}

namespace simt {
namespace {
constexpr size_t room = 1024; // bytes of a text that are kept

struct Text {
    char bytes[room];
    size_t used = 0, wanted = 0;
    void add(const char *from, size_t n) {
        size_t kept = std::min(n, room - 1 - used);
        memcpy(bytes + used, from, kept);
        used += kept;
        wanted += n;
    }
};

COLD void refuse(Worker *w, const char *what, Addr pc) {
    {
        Finding f;
        f.check = "memcheck";
        f.kind = "printf";
        f.pc = pc;
        f.text = what;
        f.fatal = true;
        report(w, f);
    }
    stopKernel(w);
}

// byteAt is one byte of a string, or the end of the kernel.
char byteAt(const char *s, Addr pc) {
    checkAccess((Addr)s, 1, READ, pc);
    return *s;
}

// One conversion of a format: "%-08.3f".
struct Conversion {
    char spec[48]; // as the C library takes it: widths are numbers, integers have 64 bits
    size_t length = 0;
    int precision = -1;
    char letter = 0, size = 0;
    void put(char c) {
        if (length < sizeof spec - 4) spec[length++] = c;
    }
    void putNumber(int n) {
        length +=
            (size_t)snprintf(spec + length, sizeof spec - 4 - length, "%d", std::min(n, (int)room));
    }
    const char *end(const char *letters) {
        while (*letters) spec[length++] = *letters++;
        spec[length] = 0;
        return spec;
    }
};

// number reads digits, or takes an argument for a star; -1 if there is neither.
int number(const char *&at, va_list *args, Addr pc) {
    if (byteAt(at, pc) == '*') {
        at++;
        return va_arg(*args, int);
    }
    int n = -1;
    for (; byteAt(at, pc) >= '0' && *at <= '9'; at++)
        n = std::min(std::max(n, 0) * 10 + *at - '0', (int)room);
    return n;
}

Conversion read(const char *&at, va_list *args, Addr pc) {
    Conversion c;
    c.put('%');
    for (int flags = 0; byteAt(at, pc) && strchr("-+ #0", *at) && flags < 8; at++, flags++)
        c.put(*at);
    int width = number(at, args, pc);
    if (width < -1) { // of a star: to the left
        c.put('-');
        width = width < -(int)room ? (int)room : -width;
    }
    if (width >= 0) c.putNumber(width);
    if (byteAt(at, pc) == '.') {
        at++;
        c.precision = std::max(number(at, args, pc), -1);
        if (c.precision < 0) c.precision = at[-1] == '*' ? -1 : 0;
        if (c.precision >= 0) {
            c.put('.');
            c.putNumber(c.precision);
        }
    }
    for (; byteAt(at, pc) && strchr("hljzt", *at); at++) c.size = *at;
    if ((c.letter = byteAt(at, pc))) at++;
    return c;
}

void addString(Text &t, Conversion &c, const char *s, Addr pc) {
    char copy[room];
    size_t n = 0, most = c.precision >= 0 ? std::min((size_t)c.precision, room - 1) : room - 1;
    while (n < most && (copy[n] = byteAt(s + n, pc))) n++;
    copy[n] = 0;
    char out[2 * room];
    int wrote = snprintf(out, sizeof out, c.end("s"), copy);
    t.add(out, (size_t)std::max(wrote, 0));
}

void convert(Worker *w, Text &t, Conversion &c, va_list *args, Addr pc) {
    char out[2 * room];
    int wrote = 0;
    switch (c.letter) {
    case 'd':
    case 'i': {
        long long v = c.size ? (c.size == 'h' ? va_arg(*args, int) : va_arg(*args, long long))
                             : va_arg(*args, int);
        wrote = snprintf(out, sizeof out, c.end("lld"), v);
        break;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
        unsigned long long v =
            c.size && c.size != 'h' ? va_arg(*args, unsigned long long) : va_arg(*args, unsigned);
        char letters[] = {'l', 'l', c.letter, 0};
        wrote = snprintf(out, sizeof out, c.end(letters), v);
        break;
    }
    case 'c':
        wrote = snprintf(out, sizeof out, c.end("c"), va_arg(*args, int));
        break;
    case 'p':
        wrote = snprintf(out, sizeof out, c.end("p"), va_arg(*args, void *));
        break;
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': {
        char letters[] = {c.letter, 0};
        wrote = snprintf(out, sizeof out, c.end(letters), va_arg(*args, double));
        break;
    }
    case 's':
        if (!c.size) return addString(t, c, va_arg(*args, const char *), pc);
        [[fallthrough]];
    default:
        return refuse(
            w,
            "printf: the format has a conversion that CUDA's printf does not know (%n, say, or "
            "%ls): it knows %d %i %u %o %x %c %p %s and those of floating-point numbers",
            pc);
    }
    t.add(out, std::min((size_t)std::max(wrote, 0), sizeof out - 1));
}

int printed(const char *format, va_list *args, Addr pc) {
    Worker *w = worker;
    Text t;
    for (const char *at = format; byteAt(at, pc);) {
        if (*at != '%') {
            t.add(at++, 1);
            continue;
        }
        at++;
        if (byteAt(at, pc) == '%') {
            t.add(at++, 1);
            continue;
        }
        Conversion c = read(at, args, pc);
        convert(w, t, c, args, pc);
    }
    t.bytes[t.used] = 0;
    print(w, simt_blockIdx, t.bytes);
    return (int)t.wanted;
}
} // namespace
} // namespace simt

extern "C" int simt_printf(const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = !simt::worker ? vprintf(format, args)
                          : simt::printed(format, &args, (simt::Addr)__builtin_return_address(0));
    va_end(args);
    return n;
}
