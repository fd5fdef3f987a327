"""Hugging Face's generate with the shape of Llama 3.1 8B in halves, beside `make ways`: what a user of transformers has
without doing anything about it. Random weights; greedy; no token ends a sequence; the cache grows as it goes.

    python3 grader/bench/ways/generate.py        # 1 and 16 sequences, 512 tokens of prompt, 48 new ones
"""
import sys
import time

import torch

try:
    import transformers
except ImportError:
    sys.exit("not measured: there is no transformers here; pip install transformers brings it")

PROMPT, NEW, RUNS = 512, 48, 3
torch.manual_seed(0)
config = transformers.LlamaConfig(vocab_size=128256, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                                  num_key_value_heads=8, max_position_embeddings=8192, rope_theta=500000.0, rms_norm_eps=1e-5,
                                  tie_word_embeddings=False, bos_token_id=None, eos_token_id=None, pad_token_id=0)
torch.set_default_dtype(torch.float16)
with torch.device("cuda"):
    model = transformers.LlamaForCausalLM(config).eval()


def seconds(tokens, new):
    torch.cuda.synchronize()
    start = time.perf_counter()
    out = model.generate(tokens, attention_mask=torch.ones_like(tokens), max_new_tokens=new, min_new_tokens=new, do_sample=False)
    torch.cuda.synchronize()
    took = time.perf_counter() - start
    assert out.shape[1] == tokens.shape[1] + new, f"{out.shape[1] - tokens.shape[1]} new tokens, want {new}"
    return took


for batch in (1, 16):
    tokens = torch.randint(1, config.vocab_size, (batch, PROMPT), device="cuda")
    torch.cuda.reset_peak_memory_stats()
    seconds(tokens, 4)  # warm
    first = sorted(seconds(tokens, 1) for _ in range(RUNS))
    whole = sorted(seconds(tokens, 1 + NEW) for _ in range(RUNS))
    between = [(w - first[RUNS // 2]) / NEW for w in whole]
    print(f"Hugging Face's generate, transformers {transformers.__version__}, PyTorch {torch.__version__}, batch {batch}: "
          f"TTFT {first[RUNS // 2] * 1e3:.1f} ms ({first[0] * 1e3:.1f} to {first[-1] * 1e3:.1f}), "
          f"TBT {between[RUNS // 2] * 1e3:.2f} ms ({between[0] * 1e3:.2f} to {between[-1] * 1e3:.2f}), "
          f"{batch / between[RUNS // 2]:.0f} tokens/s, peak {torch.cuda.max_memory_allocated() / 1e9:.2f} GB", flush=True)
