"""A loader whose workers are forked."""

import torch
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    loader = DataLoader(TensorDataset(torch.arange(8.0)), batch_size=2, num_workers=2)
    assert sum(batch.sum().item() for (batch,) in loader) == 28
