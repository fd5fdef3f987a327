// signals.cpp - what the hook cannot see in time: a local array larger than
// the stack, a division by zero, a loop that touches no memory.
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include <cstdlib>
#include <cstring>

#include "runtime.h"

namespace simt {

namespace {
Addr programCounter(void *context) {
    return (Addr)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

bool inModule(Worker *w, Addr pc) {
    return pc >= w->module->base && pc < w->module->end;
}

void onSignal(int number, siginfo_t *info, void *context) {
    Worker *w = worker;
    Addr pc = programCounter(context);
    if (!w || (number == SIGALRM && !inModule(w, pc))) {
        if (number == SIGALRM) {
            // Inside the runtime: let the next access stop the kernel.
            if (w) w->maxSteps = 0;
            return;
        }
        signal(number, SIG_DFL);
        return; // the simulator's own fault: it happens again, and ends the process
    }
    {
        Finding f;
        f.fatal = true;
        f.pc = inModule(w, pc) ? pc + 1 : 0;
        Addr at = (Addr)info->si_addr;
        f.check = "memcheck";
        if (number == SIGALRM) {
            f.check = "limits";
            f.kind = "time";
        } else if (number == SIGFPE) {
            f.kind = "division by zero";
        } else if (number == SIGSEGV && at < w->stackLo && at >= w->stackLo - guardSize) {
            f.kind = "stack overflow";
        } else {
            f.kind = "out of bounds";
            f.bytes = 1;
            f.place = describe(w, at);
        }
        report(w, f);
    }
    stopKernel(w);
}
} // namespace

void initSignals() {
    stack_t alternate = {};
    alternate.ss_size = 256 << 10;
    alternate.ss_sp = malloc(alternate.ss_size);
    sigaltstack(&alternate, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = onSignal;
    // The handler leaves by switching stacks, so it must not keep the signal blocked.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM})
        sigaction(number, &action, nullptr);
}

void armTimer(uint64_t milliseconds) {
    struct itimerval t = {};
    t.it_value.tv_sec = (time_t)(milliseconds / 1000);
    t.it_value.tv_usec = (suseconds_t)(milliseconds % 1000 * 1000);
    if (milliseconds) t.it_interval.tv_usec = 10000;
    setitimer(ITIMER_REAL, &t, nullptr);
}

} // namespace simt
