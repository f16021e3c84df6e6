"""A default device must be in force when checkpoint recomputes.

``with torch.device(...)`` and ``torch.set_default_device`` decide where factory calls make their tensors. Recomputation
runs in backward: after the scope was left, or inside ``Tensor.backward()``, which runs without the innermost
torch-function mode, and a default device is one. meta stands for a GPU here, so that no GPU is needed.
"""

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "modes"


def sin_cubed(x):
    """A function without factory calls."""
    return torch.sin(x) ** 3


def sin_with_factory(x, devices, device=None):
    """Make a tensor, note on which device it is, and go on with ``x``."""
    devices.add(str(torch.empty(1, device=device).device))
    return torch.sin(x)


def sin_with_factory_on_meta(x, devices):
    """The same, with the default device set inside."""
    with torch.device("meta"):
        return sin_with_factory(x, devices)


def backward(output, x):
    """Run backward and return what is compared."""
    output.sum().backward()
    return {"output": output, "x.grad": x.grad}


def inputs():
    """Four numbers."""
    torch.manual_seed(1729)
    return (torch.randn(4, requires_grad=True),)


def devices_reference(x):
    """The default device is meta in every call of the function; without checkpoint."""
    devices = set()
    output = sin_with_factory_on_meta(x, devices)
    return {**backward(output, x), "devices": sorted(devices)}


def default_device_reference(x):
    """Forward and backward while the default device is meta, without checkpoint."""
    with torch.device("meta"):
        compared = backward(sin_cubed(x), x)
    return {**compared, "device afterwards": str(torch.empty(1).device)}


def case_default_device_around_forward_only(x):
    """A default device that is set around the checkpointed forward only.

    Where it is not restored, factory calls such as those of masks and positions make their tensors on the wrong device
    when backward recomputes.

    :report: pytorch/pytorch#124788
    :report: pytorch/pytorch#172802
    :reference: devices_reference
    """
    devices = set()
    with torch.device("meta"):
        output = checkpoint(sin_with_factory, x, devices, use_reentrant=False)
    return {**backward(output, x), "devices": sorted(devices)}


def case_default_device_around_forward_and_backward(x):
    """A default device that is set around forward and backward.

    The open scope does not help: a default device is a torch-function mode, and ``Tensor.backward()`` runs without the
    innermost of these.

    :report: pytorch/pytorch#124788
    :reference: devices_reference
    """
    devices = set()
    with torch.device("meta"):
        output = checkpoint(sin_with_factory, x, devices, use_reentrant=False)
        compared = backward(output, x)
    return {**compared, "devices": sorted(devices)}


def case_reentrant_default_device_around_forward_only(x):
    """A default device that is set around the forward only, with ``use_reentrant=True``.

    The reentrant variant restores no default device, and will not: only the non-reentrant one was changed.

    :report: pytorch/pytorch#124788
    :report: pytorch/pytorch#193922
    :reference: devices_reference
    """
    devices = set()
    with torch.device("meta"):
        output = checkpoint(sin_with_factory, x, devices, use_reentrant=True)
    return {**backward(output, x), "devices": sorted(devices)}


def case_factory_call_names_its_device(x):
    """No default device: the factory call is told its device.

    The device of the tensors at hand, ``x.device``, is the usual one to give.

    :repairs: default_device_around_forward_only
    :repairs: default_device_around_forward_and_backward
    :repairs: reentrant_default_device_around_forward_only
    :reference: devices_reference
    """
    devices = set()
    output = checkpoint(sin_with_factory, x, devices, "meta", use_reentrant=False)
    return {**backward(output, x), "devices": sorted(devices)}


def case_default_device_inside_function(x):
    """The default device is set inside the checkpointed function.

    Recomputation runs the function itself, and so sets it again.

    :repairs: default_device_around_forward_only
    :repairs: default_device_around_forward_and_backward
    :reference: devices_reference
    """
    devices = set()
    output = checkpoint(sin_with_factory_on_meta, x, devices, use_reentrant=False)
    return {**backward(output, x), "devices": sorted(devices)}


def case_reentrant_default_device_inside_function(x):
    """The default device is set inside the checkpointed function, with ``use_reentrant=True``.

    :repairs: reentrant_default_device_around_forward_only
    :reference: devices_reference
    """
    devices = set()
    output = checkpoint(sin_with_factory_on_meta, x, devices, use_reentrant=True)
    return {**backward(output, x), "devices": sorted(devices)}


def case_first_checkpoint_while_default_device_is_meta(x):
    """The first ``checkpoint()`` of a process runs while the default device is meta.

    That call imports ``torch._dynamo``, which in some releases computed with tensors on the default device while it was
    imported. Models are built under meta before their weights are loaded.

    :report: pytorch/pytorch#153330
    :report: pytorch/pytorch#158931
    :report: pytorch/pytorch#180423
    :reference: default_device_reference
    """
    with torch.device("meta"):
        output = checkpoint(sin_cubed, x, use_reentrant=False)
        compared = backward(output, x)
    return {**compared, "device afterwards": str(torch.empty(1).device)}


def case_dynamo_imported_before_default_device_is_meta(x):
    """``torch._dynamo`` is imported before the default device is set.

    :repairs: first_checkpoint_while_default_device_is_meta
    :reference: default_device_reference
    """
    import torch._dynamo

    with torch.device("meta"):
        output = checkpoint(sin_cubed, x, use_reentrant=False)
        compared = backward(output, x)
    return {**compared, "device afterwards": str(torch.empty(1).device)}
