"""The generator's state, and the number of threads."""

from __future__ import annotations

import random

generator = random.Random(0)
_threads = [4]


def manual_seed(seed: int) -> None:
    """Seed the generator."""
    generator.seed(seed)


def set_num_threads(number: int) -> None:
    """Remember how many threads are wanted."""
    _threads[0] = number


def get_num_threads() -> int:
    """How many threads are wanted."""
    return _threads[0]
