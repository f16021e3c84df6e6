"""It ends well, and then what cleans up fails."""

import atexit

import torch
import torch.distributed as dist

atexit.register(dist.destroy_process_group)
torch.ones(2, requires_grad=True).sum().backward()
