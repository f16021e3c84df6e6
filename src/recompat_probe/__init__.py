"""What runs inside the torch environment: the standard library and torch, Python 3.8 and up, nothing of the host."""
