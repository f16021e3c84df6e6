"""A flag of the oneDNN backend changes between forward and backward: one case a setting."""

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


def case_enabled(x):
    return before(lambda: torch._C._set_mkldnn_enabled(False), x)


def case_deterministic(x):
    """Deterministic algorithms.

    :requires: torch._C._set_mkldnn_deterministic
    """
    return before(lambda: torch._C._set_mkldnn_deterministic(True), x)


def case_fp32_precision(x):
    """Of everything.

    :requires: torch.backends.mkldnn.fp32_precision
    """
    return before(lambda: torch._C._set_fp32_precision_setter("mkldnn", "all", "tf32"), x)


def case_matmul(x):
    """Of matmul alone.

    :requires: torch.backends.mkldnn.matmul.fp32_precision
    """
    return before(lambda: setattr(torch.backends.mkldnn.matmul, "fp32_precision", "bf16"), x)


def case_conv(x):
    """Of conv alone.

    :requires: torch.backends.mkldnn.conv.fp32_precision
    """
    return before(lambda: setattr(torch.backends.mkldnn.conv, "fp32_precision", "bf16"), x)


def case_rnn(x):
    """Of rnn alone.

    :requires: torch.backends.mkldnn.rnn.fp32_precision
    """
    return before(lambda: setattr(torch.backends.mkldnn.rnn, "fp32_precision", "bf16"), x)
