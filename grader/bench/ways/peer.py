"""PyTorch with the shape of Llama 3.1 8B in halves, beside `make ways`: a static cache, and a CUDA graph for a step.

q, k and v are one product, gate and up another. A step attends to the 545 tokens that there are.
"""
import time

import torch
import torch.nn.functional as F

torch.manual_seed(0); torch.set_grad_enabled(False)
dev, h = 'cuda', torch.float16
H, L, NH, NK, D, M, V = 4096, 32, 32, 8, 128, 14336, 128256
def w(o, i): return torch.randn(o, i, device=dev, dtype=h) * i ** -.5
W = [(w((NH + 2 * NK) * D, H), w(H, NH * D), w(2 * M, H), w(H, M)) for _ in range(L)]
emb, head = w(V, H), w(V, H)
one = torch.ones(H, device=dev, dtype=h)
inv = 500000. ** (-torch.arange(0, D, 2, device=dev).float() / D)
def rope(x, pos):
    a = pos.float()[:, None] * inv; a = torch.cat((a, a), -1); c, s = a.cos().to(h), a.sin().to(h)
    y = torch.cat((-x[..., D // 2:], x[..., :D // 2]), -1); return x * c + y * s
def forward(tok, pos, K, Vv, n, causal):
    B, S = tok.shape; x = emb[tok]
    for l, (wq, wo, wg, wd) in enumerate(W):
        y = F.rms_norm(x, (H,), one, 1e-5)
        q, k, v = F.linear(y, wq).view(B, S, -1, D).transpose(1, 2).split((NH, NK, NK), 1)
        q, k = rope(q, pos), rope(k, pos)
        K[l].index_copy_(2, pos, k); Vv[l].index_copy_(2, pos, v)
        a = F.scaled_dot_product_attention(q, k if causal else K[l][:, :, :n], v if causal else Vv[l][:, :, :n], is_causal=causal, enable_gqa=True)
        x = x + F.linear(a.transpose(1, 2).reshape(B, S, -1), wo)
        g, u = F.linear(F.rms_norm(x, (H,), one, 1e-5), wg).chunk(2, -1)
        x = x + F.linear(F.silu(g) * u, wd)
    return F.linear(F.rms_norm(x[:, -1], (H,), one, 1e-5), head).argmax(-1)
for B in (1, 16):
    P, T = 512, 576
    K = [torch.zeros(B, NK, T, D, device=dev, dtype=h) for _ in range(L)]; Vv = [torch.zeros_like(k) for k in K]
    tok = torch.randint(0, V, (B, P), device=dev); pos = torch.arange(P, device=dev)
    for _ in range(2): forward(tok, pos, K, Vv, P, True)
    torch.cuda.synchronize(); ts = []
    for _ in range(3):
        t = time.perf_counter(); forward(tok, pos, K, Vv, P, True).cpu(); ts.append(time.perf_counter() - t)
    one_tok = torch.zeros(B, 1, dtype=torch.long, device=dev); at = torch.tensor([544], device=dev)
    s = torch.cuda.Stream(); s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        for _ in range(2): forward(one_tok, at, K, Vv, 545, False)
    torch.cuda.current_stream().wait_stream(s)
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g): one_tok.copy_(forward(one_tok, at, K, Vv, 545, False)[:, None])
    for _ in range(5): g.replay(); one_tok.cpu()
    d = []
    for _ in range(60):
        t = time.perf_counter(); g.replay(); one_tok.cpu(); d.append(time.perf_counter() - t)
    d.sort(); ts.sort()
    print(f'PyTorch {torch.__version__}, graph, batch {B}: TTFT {ts[1]*1e3:.1f} ms, TBT {d[30]*1e3:.3f} ms ({d[3]*1e3:.3f} to {d[57]*1e3:.3f}), {B/d[30]:.0f} tokens/s, peak {torch.cuda.max_memory_allocated()/1e9:.2f} GB', flush=True)
    del K, Vv, g
