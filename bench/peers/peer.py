#!/usr/bin/env python3
"""PyTorch as a peer of `grader bench`: a process that does the same workloads on the
same inputs, asked one run at a time by lines of JSON. Each line in is a request, each
line out the answer; {"error": …} says why there is none.

Inputs are the numbers of the Go package tensor, bit for bit, new for each run, at places
of their own. A run is timed by CUDA events, with a cold L2 cache that holds
nothing to be written back."""

import gc
import json
import sys
import time

import torch

from fills import fill
from kinds import maker

STEP, ROOM = 64, 1 << 18  # in elements: how far tensors move
TYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


class Workload:
    """A case's tensors, and what is to be done with them."""

    def __init__(self, op, sizes, causal, inputs):
        self.op, self.sizes, self.causal, self.calls = op, sizes, causal, {}
        # Peers that have weights or caches of their own formats do not get the case's codes.
        self.inputs = [t for t in inputs if t["type"] in TYPES]
        self.arenas = []
        for t in self.inputs:
            n = 1
            for d in t["shape"]:
                n *= d
            self.arenas.append((torch.empty(n + ROOM, device="cuda", dtype=TYPES[t["type"]]), n, t["shape"]))
        l2 = torch.cuda.get_device_properties(0).L2_cache_size
        # Filling it empties the L2 cache, and keeps the GPU busy (some 170 µs on an H100)
        # while Python gets round to launching what is timed.
        self.flush = torch.empty(max(2 * l2, 512 << 20), dtype=torch.uint8, device="cuda")
        # What filled it would be written back at the call's expense: reading as much of
        # something that is not written leaves nothing behind that must be.
        self.clean = torch.zeros(max(2 * l2, 128 << 20) // 4, device="cuda")
        self.total = torch.empty((), device="cuda")

    def choose(self, kind):
        """What the next runs do. The first time it is made and called once: compiling is not timed."""
        self.out = None
        if kind not in self.calls:
            make = maker(kind)
            self.place(1)
            with torch.inference_mode():
                call = make(self)
                call.run(call.ready(*self.tensors))
            torch.cuda.synchronize()
            self.calls[kind] = call
        self.call = self.calls[kind]

    def place(self, seed):
        generator = torch.Generator().manual_seed(seed % (1 << 63))
        self.tensors = []
        for (arena, n, shape), t in zip(self.arenas, self.inputs):
            at = STEP * int(torch.randint(ROOM // STEP + 1, (1,), generator=generator))
            x = arena[at : at + n].view(shape)
            fill(x, seed, t["stream"])
            self.tensors.append(x)

    def run(self, seed, fills):
        """One run; the cache is filled so many times before it, to keep the GPU busy. Began
        tells that this was not for long enough."""
        self.out = None
        self.place(seed)
        with torch.inference_mode():
            given = self.call.ready(*self.tensors)
        start, stop, idle = (torch.cuda.Event(enable_timing=True) for _ in range(3))
        torch.cuda.synchronize()
        for _ in range(max(1, fills)):
            self.flush.fill_(seed & 0xFF)
        torch.sum(self.clean, 0, out=self.total)
        host = time.perf_counter_ns()
        with torch.inference_mode():
            start.record()
            out = self.call.run(given)
            stop.record()
        queued = time.perf_counter_ns() - host
        began = start.query()
        torch.cuda.synchronize()
        host = time.perf_counter_ns() - host
        idle.record()
        torch.cuda.synchronize()
        self.out = self.call.output(out)
        device = round(start.elapsed_time(stop) * 1e6)
        return {"Device": device, "Late": round(start.elapsed_time(idle) * 1e6) - device, "Host": host,
                "Queued": queued, "Began": began, "Bad": int((~torch.isfinite(self.out)).sum())}

    def rows(self, begins, size):
        flat = self.out.reshape(-1)
        return [v for at in begins for v in flat[at : at + size].tolist()]


def give_back(state):
    """The memory of a workload: also what a failed attempt's traceback still holds."""
    state.clear()
    gc.collect()
    torch.cuda.empty_cache()


def answer(request, state):
    what = request["op"]
    if what == "hello":
        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch sees no GPU")
        return {"about": f"PyTorch {torch.__version__}", "device": torch.cuda.get_device_name(0)}
    if what == "case":
        which = {n: request[n] for n in ("case", "sizes", "causal", "inputs")}
        if state.get("which") != which:
            give_back(state)
            state.update(which=which, workload=Workload(request["case"], request["sizes"], request["causal"], request["inputs"]))
        state["workload"].choose(request["kind"])
        return {}
    if what == "run":
        return state["workload"].run(request["seed"], request["fills"])
    if what == "rows":
        return {"values": state["workload"].rows(request["from"], request["size"])}
    if what == "end":
        give_back(state)
        return {}
    raise ValueError(f"there is no request {what!r}")


def main():
    out, sys.stdout = sys.stdout, sys.stderr  # whatever a library prints is no answer
    state = {}
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line), state)
        except Exception as e:  # the parent says what is left out, and why
            reply = {"error": f"{type(e).__name__}: {e}"[:1000]}
        print(json.dumps(reply), file=out, flush=True)


main()
