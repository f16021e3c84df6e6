"""It asks which device to use."""

import torch

device = input("Which device? ")
print(torch.ones(2, device=device))
