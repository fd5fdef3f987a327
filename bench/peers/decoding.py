"""What the two models share: a static cache, how time is taken, and what they wrote."""

import argparse
import json
import statistics
import time

import torch
import torch.nn.functional as F

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"  # the latter to compare tokens, not times
SEED = 1  # of the weights, as in `grader run`


def options(about, sizes, more=lambda parser: None):
    p = argparse.ArgumentParser(description=about)
    more(p)
    p.add_argument("--size", choices=sizes, default=next(iter(sizes)))
    p.add_argument("--tokens", type=int, default=100, help="how many are timed after the first")
    p.add_argument("--prompt", type=int, help="tokens of the prompt, where it is not the size's own")
    p.add_argument("--compile", action="store_true", help="a step goes through torch.compile before it is recorded")
    p.add_argument("--json", action="store_true", help="one line for `grader bench`, times in nanoseconds")
    return p.parse_args()


class Cache:
    """Keys and values of one layer, [batch, heads, slots, dim], allocated once."""

    def __init__(self, batch, heads, slots, dim, dtype=torch.float32):
        shape = (batch, heads, slots, dim)
        self.k = torch.zeros(shape, device=DEVICE, dtype=dtype)
        self.v = torch.zeros(shape, device=DEVICE, dtype=dtype)


def attend(q, k, v, cache, at, mask):
    """q, k and v [batch, heads, count, dim]; at: the new tokens' slots. A prompt
    (mask is None) sees itself alone; a later token sees the slots that mask allows,
    for a graph's shapes cannot grow with the text."""
    cache.k.index_copy_(2, at, k)
    cache.v.index_copy_(2, at, v)
    shared = {"enable_gqa": True} if q.shape[1] != k.shape[1] else {}
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, **shared)
    return F.scaled_dot_product_attention(q, cache.k, cache.v, attn_mask=mask, **shared)


class Decoder:
    """A model's greedy decoding, one step of it captured as a CUDA graph.
    forward(tokens, at, mask) gives the logits of the last token, [batch, vocabulary]."""

    def __init__(self, forward, batch, slots, compiled=False, mode=None):
        self.forward, self.slots, self.compiled, self.mode = forward, slots, compiled, mode
        self.token = torch.zeros(batch, 1, dtype=torch.long, device=DEVICE)
        self.at = torch.zeros(1, dtype=torch.long, device=DEVICE)
        self.range = torch.arange(slots, device=DEVICE)

    def step(self):
        mask = (self.range <= self.at).view(1, 1, 1, -1)
        logits = self.forward(self.token, self.at, mask)
        self.token.copy_(logits.argmax(-1, keepdim=True))
        self.at.add_(1)
        return logits

    def prefill(self, tokens):
        at = torch.arange(tokens.shape[1], device=DEVICE)
        logits = self.forward(tokens, at, None)
        self.token.copy_(logits.argmax(-1, keepdim=True))
        self.at.fill_(tokens.shape[1])
        return logits

    def capture(self):
        """Makes self.replay, a step whose logits are found in what it returns."""
        self.replay = self.step
        if DEVICE == "cpu":
            return
        if self.compiled:
            # A prompt is not: its one run would not pay for compiling. No attention here is of a shape that it can fuse.
            self.forward = torch.compile(self.forward, dynamic=False, fullgraph=True, mode=self.mode)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())  # the prompt's step writes what these read
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.step()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            logits = self.step()

        def replay():
            graph.replay()
            return logits

        self.replay = replay

    def fetch(self):
        return self.token.flatten().tolist()

    def margins(self, tokens, count):
        """How far the best logit of each step and sequence is ahead of the second, over the
        largest: where that is next to nothing, another order of the same additions may pick
        the other. Not timed."""

        def margin(logits):
            best = logits.topk(2).values
            return ((best[:, 0] - best[:, 1]) / logits.abs().amax(-1)).tolist()

        return [margin(self.prefill(tokens))] + [margin(self.replay()) for _ in range(count)]

    def measure(self, name, tokens, count, as_json, rounds=5, compared=True):
        """Each time includes fetching the token, as one who reads along would. Without rounds the first one's are not kept;
        what is not compared with ours is not told."""
        wait = torch.cuda.synchronize if DEVICE == "cuda" else lambda: None
        with torch.inference_mode():
            self.prefill(tokens)
            prompts = self.forward
            self.capture()
            steps, self.forward = self.forward, prompts
            first, each, written = [], [], []
            for _ in range(max(rounds, 1)):
                wait()
                start = time.perf_counter()
                self.prefill(tokens)
                token = self.fetch()
                first.append(time.perf_counter() - start)
            written.append(token)
            self.forward = steps
            for _ in range(count):
                start = time.perf_counter()
                self.replay()
                token = self.fetch()
                each.append(time.perf_counter() - start)
                written.append(token)
            self.forward = prompts
            margins = self.margins(tokens, count) if as_json and compared else None
        first = first[:rounds]
        if as_json:
            nanoseconds = lambda times: [round(t * 1e9) for t in times]
            print(json.dumps({"First": nanoseconds(first), "Each": nanoseconds(each),
                              "Tokens": written if compared else None, "Margins": margins}))
            return
        each.sort()
        ttft = f"TTFT {statistics.median(first) * 1e3:.2f} ms ({min(first) * 1e3:.2f} to {max(first) * 1e3:.2f}); " if first else ""
        print(f"{name}: {ttft}TBT with a graph: mean {statistics.mean(each) * 1e3:.3f}, median {statistics.median(each) * 1e3:.3f}, "
              f"95 % within {each[int(0.95 * count)] * 1e3:.3f} ms")
