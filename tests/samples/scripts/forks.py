"""A worker that is forked, and waited for."""

import os

import torch

total = torch.arange(8.0).sum().item()
worker = os.fork()
if worker == 0:
    os._exit(0 if total == 28 else 1)
assert os.waitpid(worker, 0)[1] == 0
