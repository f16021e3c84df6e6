"""What is computed by changes between forward and backward: one case a setting."""

import contextlib

import torch
from torch.utils.checkpoint import checkpoint


def inputs():
    return (torch.ones(2, 3, requires_grad=True),)


def reference(x):
    return finish(torch.sin(x), x)


def finish(output, x):
    """Run backward and return what is compared."""
    output.sum().backward()
    return {"output": output, "x.grad": x.grad}


def before(change, x, function=torch.sin):
    """Checkpoint a function, change a setting, run backward."""
    output = checkpoint(function, x, use_reentrant=False)
    change()
    return finish(output, x)


def within(scope, x):
    """Checkpoint a function within a scope around its first run alone; checkpoint itself restores some settings."""
    output = checkpoint(torch.sin, x, use_reentrant=False, context_fn=lambda: (scope, contextlib.nullcontext()))
    return finish(output, x)


def case_grad_enabled(x):
    """The reentrant variant runs a function without gradients first."""
    return finish(checkpoint(torch.sin, x, use_reentrant=True), x)


def case_inference(x):
    """Inference mode is on in the recomputation alone."""
    contexts = contextlib.nullcontext(), torch.inference_mode()
    return finish(checkpoint(torch.sin, x, use_reentrant=False, context_fn=lambda: contexts), x)


def case_default_dtype(x):
    return before(lambda: torch.set_default_dtype(torch.float64), x)


def case_default_device(x):
    return within(torch.device("meta"), x)


def case_matmul_precision(x):
    return before(lambda: torch.set_float32_matmul_precision("high"), x)


def case_deterministic(x):
    return before(lambda: torch.use_deterministic_algorithms(True), x)


def case_warn_only(x):
    torch.use_deterministic_algorithms(True)
    return before(lambda: torch.use_deterministic_algorithms(True, warn_only=True), x)


def case_fill(x):
    """Memory is no longer filled.

    :requires: torch.utils.deterministic.fill_uninitialized_memory
    """
    return before(lambda: setattr(torch.utils.deterministic, "fill_uninitialized_memory", False), x)


def case_threads(x):
    return before(lambda: torch.set_num_threads(3), x)
