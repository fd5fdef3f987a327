// signals.cpp - what the hook cannot see in time: a local array larger than
// the stack, a division by zero, a loop that touches no memory.
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <chrono>
#include <condition_variable>
#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "onhost.h"
#include "runtime.h"

namespace simt {

namespace {
#if defined(__aarch64__)
Addr programCounter(void *context) {
    return ((ucontext_t *)context)->uc_mcontext.pc;
}
Addr stackPointer(void *context) {
    return ((ucontext_t *)context)->uc_mcontext.sp;
}
// This processor divides by zero and goes on, so division.go puts `brk 7` before it.
bool divides(int number, Addr pc) {
    return number == SIGTRAP && *(const uint32_t *)pc == (0xd4200000 | 7 << 5);
}
#else
Addr programCounter(void *context) {
    return (Addr)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}
Addr stackPointer(void *context) {
    return (Addr)((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
}
bool divides(int number, Addr) {
    return number == SIGFPE;
}
#endif

bool inModule(Worker *w, Addr pc) {
    return pc >= w->module->base && pc < w->module->end;
}

// The timer interrupts a worker with this.
constexpr int tooLate = SIGUSR1;

// A fault inside a hook belongs to the line that called it: the nearest address
// on the stack that is in the module. A stack that overflowed begins at its guard.
Addr callerInModule(Worker *w, void *context) {
    Addr sp = stackPointer(context);
    Addr low = (Addr)w->current->stack, top = low + stackSize;
    if (sp < low - guardSize || sp >= top) return 0;
    for (Addr at = std::max(sp, low) & ~(Addr)7; at < top; at += sizeof(Addr))
        if (inModule(w, *(Addr *)at)) return *(Addr *)at;
    return 0;
}

void onSignal(int number, siginfo_t *info, void *context) {
    Worker *w = worker;
    Addr pc = programCounter(context);
    if (number == tooLate && (!w || !inModule(w, pc))) {
        if (w) w->maxSteps = 0; // inside the runtime: the next access stops the kernel
        return;
    }
    if (!w) {
        if (onHostFault) onHostFault(number, pc, (Addr)info->si_addr);
        signal(number, SIG_DFL);
        return; // the simulator's own fault: it happens again, and ends the process
    }
    {
        Finding f;
        f.fatal = true;
        f.pc = inModule(w, pc) ? pc + 1 : callerInModule(w, context);
        Addr at = (Addr)info->si_addr;
        f.check = "memcheck";
        if (number == tooLate) {
            f.check = "limits";
            f.kind = "time";
        } else if (divides(number, pc)) {
            f.kind = "division by zero";
        } else if (number == SIGSEGV && (Addr)w->current->stack - at - 1 < guardSize) {
            f.kind = "stack overflow";
        } else if (number == SIGSEGV && info->si_code == SI_KERNEL) { // the processor gives none
            f.kind = "bad address";
            f.text = "a misaligned address, or one that cannot exist: Checks.Mem tells which";
        } else {
            f.kind = "out of bounds";
            f.bytes = 1;
            f.place = describe(w, at);
        }
        report(w, f);
    }
    stopKernel(w);
}

// One thread watches the clock. A worker that is past its time is interrupted
// again and again, because it may be inside the runtime at that moment.
std::mutex clockMutex;
std::condition_variable clockSet;
bool running;
uint64_t limit, turn;
std::vector<pthread_t> threadIds;

void watchClock() {
    std::unique_lock<std::mutex> hold(clockMutex);
    for (;;) {
        clockSet.wait(hold, [] { return running; });
        uint64_t mine = turn;
        auto over = [&] { return !running || turn != mine; };
        if (clockSet.wait_for(hold, std::chrono::milliseconds(limit), over)) continue;
        do {
            for (pthread_t t : threadIds) pthread_kill(t, tooLate);
        } while (!clockSet.wait_for(hold, std::chrono::milliseconds(10), over));
    }
}
} // namespace

void useSignalStack() {
    stack_t alternate = {};
    alternate.ss_size = 256 << 10;
    alternate.ss_sp = malloc(alternate.ss_size);
    sigaltstack(&alternate, nullptr);
    std::lock_guard<std::mutex> hold(clockMutex);
    threadIds.push_back(pthread_self());
}

void initSignals() {
    useSignalStack();
    struct sigaction action = {};
    action.sa_sigaction = onSignal;
    // The handler leaves by switching stacks, so it must not keep the signal blocked.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, tooLate})
        sigaction(number, &action, nullptr);
    std::thread(watchClock).detach();
}

void startTimer(uint64_t milliseconds) {
    std::lock_guard<std::mutex> hold(clockMutex);
    running = true;
    turn++;
    limit = milliseconds;
    clockSet.notify_one();
}

void stopTimer() {
    std::lock_guard<std::mutex> hold(clockMutex);
    running = false;
    clockSet.notify_one();
}

} // namespace simt
