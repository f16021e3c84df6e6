"""Which attention kernels are allowed changes between forward and backward: one case a setting."""

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


def case_flash(x):
    return before(lambda: torch.backends.cuda.enable_flash_sdp(False), x)


def case_mem_efficient(x):
    return before(lambda: torch.backends.cuda.enable_mem_efficient_sdp(False), x)


def case_math(x):
    return before(lambda: torch.backends.cuda.enable_math_sdp(False), x)


def case_cudnn(x):
    """CuDNN's.

    :requires: torch.backends.cuda.enable_cudnn_sdp
    """
    return before(lambda: torch.backends.cuda.enable_cudnn_sdp(False), x)


def case_priority(x):
    """All kernels stay allowed, in another order.

    :requires: torch.nn.attention.sdpa_kernel(set_priority)
    """
    from torch.nn.attention import SDPBackend, sdpa_kernel

    names = ("MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "OVERRIDEABLE")
    with sdpa_kernel([getattr(SDPBackend, name) for name in names], set_priority=True):
        output = checkpoint(torch.sin, x, use_reentrant=False)
    return finish(output, x)
