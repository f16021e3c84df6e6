"""It needs a package that nothing but its first line names."""

import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float32)
model.gradient_checkpointing_enable()
