// hostmain.cpp - runs a program's main() in the simulator's process. Kernels run on a thread of
// their own, for any thread of the program may launch some.
#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "host.h"
#include "onhost.h"
#include "prints.h"

extern char **environ;

namespace simt::program {

Options options;
Module *module;
std::recursive_mutex lock;

namespace {
// Never destroyed: the device's thread waits on them to the end.
std::mutex &jobLock = *new std::mutex;
std::condition_variable &jobs = *new std::condition_variable, &done = *new std::condition_variable;
void (*job)(void *);
void *jobOf;
bool finished;

void deviceThread() {
    std::unique_lock<std::mutex> hold(jobLock);
    for (;;) {
        jobs.wait(hold, [] { return job != nullptr; });
        hold.unlock();
        job(jobOf);
        hold.lock();
        job = nullptr;
        finished = true;
        done.notify_one();
    }
}

bool readOptions(const char *path) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        size_t space = line.find(' ');
        if (space == std::string::npos) continue;
        std::string word = line.substr(0, space), rest = line.substr(space + 1);
        if (word == "so") options.so = rest;
        if (word == "constant") options.constants.push_back(rest);
        if (word == "variable") options.variables.push_back(rest);
        if (word == "managed") options.managed.push_back(rest);
        if (word == "memory") options.memory = std::stoull(rest);
        if (word == "steps") options.steps = std::stoull(rest);
        if (word == "timeout") options.timeout = std::stoull(rest);
        if (word == "checks") options.checks = (unsigned)std::stoul(rest);
        if (word == "workers") options.workers = std::stoi(rest);
        if (word == "estimate") options.estimate = rest == "true";
    }
    return !options.so.empty();
}

void startDevice() {
    std::thread(deviceThread).detach();
    onDevice([] {
        limitSteps(options.steps);
        if (options.estimate) modelCache();
        initScheduler(options.workers, options.checks);
        initMemory(options.memory, options.checks & RACE);
        keepPrints(1 << 20); // CUDA's default
        initTraffic();
        initSignals();
    });
    onHost = watchHost;
    onHostFree = watchFree;
    onHostFault = [](int, Addr, Addr) { sendReport(true, -1); };
    ofDevice = isVariable;
    kernelsOf = findKernels;
    signal(SIGABRT, [](int) {
        fflush(stdout);
        sendReport(true, -1);
        signal(SIGABRT, SIG_DFL);
        raise(SIGABRT);
    });
}

constexpr int notLoaded = 125; // as device/program/program.go has it

// undefined is the loader's message, with the missing symbol's name as the source has it.
std::string undefined(const std::string &error) {
    const char word[] = "undefined symbol: ";
    size_t at = error.find(word);
    if (at == std::string::npos) return error;
    int status = 0;
    std::string name = error.substr(at + sizeof word - 1);
    char *text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    return "nothing defines " + (status == 0 && text ? std::string(text) : name) +
           ": name all of the program's source files, and -l for a library";
}

// atExit comes after the program's own destructors, and before the runtime's, which would wait for
// ever.
void atExit(int status, void *) {
    {
        std::lock_guard<std::recursive_mutex> hold(lock);
        notesOnErrors();
        notesOnPrints();
        notesOnLeaks(false);
    }
    fflush(nullptr);
    sendReport(true, status);
    _exit(status);
}
} // namespace

void onDeviceThread(void (*work)(void *), void *what) {
    std::unique_lock<std::mutex> hold(jobLock);
    finished = false;
    job = work;
    jobOf = what;
    jobs.notify_one();
    done.wait(hold, [] { return finished; });
}

[[noreturn]] void die(int number) {
    fflush(stdout);
    sendReport(true, -1);
    signal(number, SIG_DFL);
    raise(number);
    _exit(128 + number);
}

} // namespace simt::program

// The arguments: a file of options, then the program's own from its name on.
extern "C" int simt_program(int argc, char **argv) {
    using namespace simt::program;
    if (argc < 3 || !readOptions(argv[1])) return notLoaded;
    // Not for processes that the program starts.
    for (int fd : {options.report, options.reply}) fcntl(fd, F_SETFD, FD_CLOEXEC);
    on_exit(atExit, nullptr);
    startDevice();
    std::string error;
    module = simt::loadModule(options.so, options.constants, &error);
    void *handle = module ? dlopen(options.so.c_str(), RTLD_NOW) : nullptr;
    auto *entry = handle ? (int (*)(int, char **, char **))dlsym(handle, "main") : nullptr;
    Dl_info where;
    if (!entry || !dladdr((void *)entry, &where) || options.so != where.dli_fname) {
        fprintf(stderr, "flashlab-run: %s\n",
                error.empty() ? "there is no main()" : undefined(error).c_str());
        _exit(notLoaded);
    }
    exit(entry(argc - 2, argv + 2, environ));
}
