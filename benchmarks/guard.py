"""What ``recompat.guard`` costs: a training step of a small transformer block, with the guard and without, in turns.

Run it with a python that has torch: ``PYTHONPATH=src python benchmarks/guard.py``. On the CPU, with one thread.
"""

from __future__ import annotations

import statistics
import time

import torch
from torch.utils.checkpoint import checkpoint

from recompat.guard import guard

TURNS = 300
WARM_UP = 20


def step(block: torch.nn.Module, tokens: torch.Tensor, use_reentrant: bool) -> float:
    """Train one step; return its seconds of processor time, which other programs lengthen less."""
    began = time.process_time()
    checkpoint(block, tokens, use_reentrant=use_reentrant).sum().backward()
    return time.process_time() - began


def guarded(block: torch.nn.Module, tokens: torch.Tensor, use_reentrant: bool) -> float:
    """Train one step within a guard, which is entered and left each time."""
    began = time.process_time()
    with guard():
        step(block, tokens, use_reentrant)
    return time.process_time() - began


def main() -> None:
    """Print the median step without the guard, and the median and the quartiles of the ratios."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    block = torch.nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
    tokens = torch.randn(8, 64, 128, requires_grad=True)
    print(f"torch {torch.__version__}: block of width 128, 4 heads; 8 sequences of 64 tokens; {TURNS} turns")
    for use_reentrant in (False, True):
        plain, ratios = [], []
        for turn in range(-WARM_UP, TURNS):
            order = (step, guarded) if turn % 2 else (guarded, step)
            seconds = {run: run(block, tokens, use_reentrant) for run in order}
            if turn >= 0:
                plain.append(seconds[step])
                ratios.append(seconds[guarded] / seconds[step])
        low, middle, high = ((ratio - 1) * 100 for ratio in statistics.quantiles(ratios, n=4))
        print(
            f"use_reentrant={use_reentrant}: {statistics.median(plain) * 1000:.2f} ms a step; "
            f"the guard adds {middle:+.1f} % (quartiles {low:+.1f} to {high:+.1f} %)"
        )


if __name__ == "__main__":
    main()
