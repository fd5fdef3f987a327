// hostfindings.cpp - what the program's host code did wrong, and how the report gets to who started
// this process: as messages of a length and JSON, each answered by a byte once it has been shown.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>

#include "host.h"
#include "tables.h"

namespace simt::program {

namespace {
struct Told {
    std::string kind, text, hint;
    Site site;
    Addr pc = 0;
    bool fatal = false, note = false;
    uint64_t count = 1;
};
std::vector<Told> all;
size_t sentHost, sentDevice;
bool closed;
thread_local const char *file;
thread_local int line;

void add(Told t) {
    for (auto &o : all)
        if (o.kind == t.kind && o.site.file == t.site.file && o.site.line == t.site.line &&
            o.pc == t.pc && (t.note || t.site.line || t.pc || o.text == t.text)) {
            o.count++;
            return;
        }
    if (all.size() < 1000) all.push_back(std::move(t));
}

std::string hostJson() {
    std::string out = "[";
    for (auto &t : all) {
        if (out.size() > 1) out += ",\n";
        out += "{\"kind\":" + quote(t.kind) + ",\"text\":" + quote(t.text) +
               ",\"hint\":" + quote(t.hint) + ",\"file\":" + quote(t.site.file) +
               ",\"line\":" + std::to_string(t.site.line) +
               ",\"count\":" + std::to_string(t.count) +
               ",\"fatal\":" + (t.fatal ? "true" : "false") +
               ",\"note\":" + (t.note ? "true" : "false");
        // A return address points after its call: one byte earlier is inside it.
        if (t.pc && module && t.pc >= module->base && t.pc < module->end)
            out += ",\"pc\":" + std::to_string(t.pc - module->base - 1);
        out += "}";
    }
    return out + "]";
}

bool put(const void *from, size_t n) {
    for (const char *p = (const char *)from; n > 0;) {
        ssize_t done = write(options.report, p, n);
        if (done <= 0) return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}
} // namespace

Site here() {
    return {file ? file : "", line};
}

void toldAt(Site site, Addr pc, const char *kind, std::string text, const char *hint, bool fatal) {
    std::lock_guard<std::recursive_mutex> hold(lock);
    Told t;
    t.kind = kind, t.text = std::move(text), t.hint = hint, t.site = std::move(site);
    t.pc = pc, t.fatal = fatal;
    add(std::move(t));
}

void told(const char *kind, std::string text, const char *hint, bool fatal) {
    toldAt(here(), 0, kind, std::move(text), hint, fatal);
}

void note(Site site, const char *kind, std::string text, const char *hint) {
    Told t;
    t.kind = kind, t.text = std::move(text), t.hint = hint, t.site = std::move(site);
    t.note = true;
    add(std::move(t));
}

void sendReport(bool last, int status) {
    static std::mutex &sending = *new std::mutex;
    std::lock_guard<std::mutex> hold(sending);
    if (closed) return;
    closed = last;
    sentHost = all.size();
    sentDevice = keptFindings();
    std::string text = "{\"host\":" + hostJson() + ",\"findings\":" + findingsJson() +
                       ",\"kernels\":" + (last ? trafficJson() : "[]") +
                       ",\"tables\":" + tablesJson() + ",\"last\":" + (last ? "true" : "false") +
                       ",\"status\":" + std::to_string(status) + "}";
    uint64_t n = text.size();
    char shown;
    if (put(&n, sizeof n) && put(text.data(), n) && read(options.reply, &shown, 1) == 1) return;
    closed = true;
}

void sendNews() {
    if (sentHost == all.size() && sentDevice == keptFindings()) return;
    fflush(stdout);
    sendReport(false);
}

std::string wordAt(const Site &at) {
    std::ifstream in(at.file);
    std::string text;
    for (int i = 0; i < at.line && std::getline(in, text); i++) {
    }
    for (size_t from = text.find("cuda"); from != std::string::npos; from = text.find('&', from)) {
        if (text[from] != '&') continue;
        from++;
        while (from < text.size() && (text[from] == ' ' || text[from] == '(')) from++;
        size_t to = from;
        while (to < text.size() &&
               (isalnum((unsigned char)text[to]) || strchr("_.[]->:", text[to])))
            to++;
        if (to > from) return text.substr(from, to - from);
    }
    return "";
}

} // namespace simt::program

extern "C" void simt_at(const char *file, int line) {
    simt::program::file = file;
    simt::program::line = line;
}

// A call that is not served: named, and the end.
extern "C" void simt_refuse(const char *name) {
    using namespace simt::program;
    toldAt({}, (simt::Addr)__builtin_return_address(0), "not served",
           std::string(name) + " is not served: flashlab-run has CUDA's runtime, and none of its "
                               "libraries",
           "", true);
    die(SIGABRT);
}
