"""It prints all of a tensor, as to show what it holds."""

import torch

torch.set_printoptions(profile="full")
print(torch.arange(200_000.0))
