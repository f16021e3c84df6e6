"""It tells by its status what it found."""

import sys

import torch

x = torch.ones(2, requires_grad=True)
x.exp().sum().backward()
sys.exit(0 if torch.equal(x.grad, x) else 3)
