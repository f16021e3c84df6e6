"""Which PyTorch releases does an activation-checkpointing pattern break on, and why?"""

__version__ = "0.1.0"
