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
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from fills import fill

STEP, ROOM = 64, 1 << 18  # in elements: how far tensors move
TYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


class Workload:
    """A case's tensors, and what is to be done with them."""

    def __init__(self, op, sizes, causal, inputs):
        self.arenas, self.inputs, self.about, self.calls = [], inputs, (op, sizes, causal), {}
        for t in inputs:
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
        """What the next runs do."""
        self.out = None
        self.by_token = kind == "multihead"
        self.type = torch.float16 if kind == "half" else None  # the inputs' own
        if kind not in self.calls:
            self.calls[kind] = getattr(self, kind)(*self.about)
        self.call = self.calls[kind]

    def place(self, seed):
        generator = torch.Generator().manual_seed(seed % (1 << 63))
        self.tensors = []
        for (arena, n, shape), t in zip(self.arenas, self.inputs):
            at = STEP * int(torch.randint(ROOM // STEP + 1, (1,), generator=generator))
            x = arena[at : at + n].view(shape)
            fill(x, seed, t["stream"])
            self.tensors.append(by_tokens(x) if self.by_token else x.to(self.type or x.dtype))

    def run(self, seed, fills):
        """One run; the cache is filled so many times before it, to keep the GPU busy. Began
        tells that this was not for long enough."""
        self.out = None
        self.place(seed)
        start, stop, idle = (torch.cuda.Event(enable_timing=True) for _ in range(3))
        torch.cuda.synchronize()
        for _ in range(max(1, fills)):
            self.flush.fill_(seed & 0xFF)
        torch.sum(self.clean, 0, out=self.total)
        host = time.perf_counter_ns()
        with torch.inference_mode():
            start.record()
            self.out = self.call()
            stop.record()
        queued = time.perf_counter_ns() - host
        began = start.query()
        torch.cuda.synchronize()
        host = time.perf_counter_ns() - host
        idle.record()
        torch.cuda.synchronize()
        if self.by_token:
            self.out = by_heads(self.out, self.about[1]["heads"])
        device = round(start.elapsed_time(stop) * 1e6)
        return {"Device": device, "Late": round(start.elapsed_time(idle) * 1e6) - device, "Host": host,
                "Queued": queued, "Began": began, "Bad": int((~torch.isfinite(self.out)).sum())}

    def rows(self, begins, size):
        flat = self.out.reshape(-1)
        return [v for at in begins for v in flat[at : at + size].tolist()]

    # What can be asked for: each gives the function that is timed.

    def matmul(self, op, sizes, causal):
        if op == "gemm_nt":
            return lambda: torch.matmul(self.tensors[0], self.tensors[1].transpose(-1, -2))
        return lambda: torch.matmul(self.tensors[0], self.tensors[1])

    def softmax(self, op, sizes, causal):
        return lambda: torch.softmax(self.tensors[0].view(sizes["outer"], sizes["len"]), -1)

    def heads(self, op, sizes):
        """q, k and v as [batch, heads, seq, dim]; a cache is seen with its heads apart."""
        if "slots" not in sizes:
            return self.tensors
        batch, heads, shared, slots, dim = (sizes[n] for n in ("batch", "heads", "kvheads", "slots", "dim"))
        q, k, v = self.tensors
        apart = lambda x: x.view(batch, slots, shared, dim).transpose(1, 2)
        return q.view(batch, heads, 1, dim), apart(k), apart(v)

    def attention(self, op, sizes, causal, backend):
        grouped = sizes.get("kvheads", sizes["heads"]) != sizes["heads"]

        def call():
            q, k, v = self.heads(op, sizes)
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=grouped)

        return call

    def sdpa(self, op, sizes, causal):
        return self.attention(op, sizes, causal, SDPBackend.EFFICIENT_ATTENTION)

    def half(self, op, sizes, causal):
        """The same in half precision: to show what comparing unlike with like does."""
        return self.attention(op, sizes, causal, SDPBackend.FLASH_ATTENTION)

    def flash(self, op, sizes, causal):
        return self.attention(op, sizes, causal, SDPBackend.FLASH_ATTENTION)

    def cudnn(self, op, sizes, causal):
        return self.attention(op, sizes, causal, SDPBackend.CUDNN_ATTENTION)

    def sage(self, op, sizes, causal):
        """SageAttention 1, in Triton: scores from codes of 8 bits, quantising included."""
        from sageattention import sageattn

        return lambda: sageattn(*self.tensors, is_causal=causal)

    def math(self, op, sizes, causal):
        return self.attention(op, sizes, causal, SDPBackend.MATH)

    def multihead(self, op, sizes, causal):
        """The whole module with its projections, which is more work. Each of them multiplies
        by one and adds zeros, so that the output is attention's own."""
        width, device = sizes["heads"] * sizes["dim"], self.total.device
        module = torch.nn.MultiheadAttention(width, sizes["heads"], batch_first=True, device=device).eval()
        with torch.no_grad():
            one = torch.eye(width, device=device)
            module.in_proj_weight.copy_(one.repeat(3, 1))
            module.out_proj.weight.copy_(one)
        mask = torch.nn.Transformer.generate_square_subsequent_mask(sizes["seqq"], device=device) if causal else None
        return lambda: module(*self.tensors, need_weights=False, attn_mask=mask, is_causal=causal)[0]


def by_tokens(x):
    """[batch, heads, seq, dim] as [batch, seq, heads × dim], a copy: how a module has it."""
    return x.transpose(1, 2).flatten(2)


def by_heads(x, count):
    """The other way."""
    return x.unflatten(2, (count, -1)).transpose(1, 2)


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
