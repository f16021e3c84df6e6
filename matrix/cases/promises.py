"""What torch announces about checkpoint in its warnings and documentation, held against what it does.

A warning that names a release, or a sentence of the documentation, is a promise to those who plan an upgrade. The
reference of a case is what the running release promises; the case is what the same release does.
"""

import re
import warnings

import torch
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

FAMILY = "promises"

ANNOUNCED = re.compile(r"(?:in version|starting in pytorch)\s+(2\.\d+)", re.IGNORECASE)


def overdue(text):
    """Name the releases for which a text announces an exception and that have come."""
    return ", ".join(sorted({name for name in ANNOUNCED.findall(text) if torch.__version__ >= name})) or "nothing"


def overdue_in_warnings(function):
    """Call a function, and name the releases that its warnings announced and that have come; none if it raises."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            function()
        except (RuntimeError, TypeError, ValueError):
            return "nothing"
    return overdue(" ".join(str(warning.message) for warning in given))


def named(x, *, shift):
    """Take a tensor by keyword."""
    return (x * shift).sin()


def nested(tensors):
    """Take a tensor in a list in a dictionary, and return one the same way."""
    return {"outputs": [tensors["inputs"][0].sin()]}


def half_detached(x):
    """Multiply by a factor that is computed without grad."""
    with torch.no_grad():
        factor = x.exp()
    return x.sin() * factor


def inputs():
    """One tensor that requires grad."""
    torch.manual_seed(1729)
    return (torch.randn(4, requires_grad=True),)


def frozen_inputs():
    """One tensor that does not require grad, and a layer that is trained."""
    torch.manual_seed(1729)
    return torch.randn(2, 4), torch.nn.Linear(4, 4)


def reference(x):
    """No release that was named has come without the exception."""
    return {"overdue": "nothing"}


def layer_reference(x, layer):
    """The gradient of the layer, without checkpoint."""
    (layer(x) + layer.bias).sum().backward()
    return {"weight.grad": layer.weight.grad}


def structures_reference(x):
    """The gradient, without checkpoint."""
    nested({"inputs": [named(x, shift=x)]})["outputs"][0].sum().backward()
    return {"x.grad": x.grad}


def detached_reference(x):
    """The gradient, without checkpoint, and the error that is documented for the reentrant variant."""
    half_detached(x).sum().backward()
    return {"x.grad": x.grad, "backward raises": True}


def tail_reference(x):
    """Early stop: nothing of the second output is recomputed."""
    return {"runs of the tail": 1}


def traces_reference(x):
    """Both traces are there."""
    return {"forward's operator": True, "recomputation's operator": True}


def sine_reference(x):
    """The gradient, without checkpoint."""
    x.sin().sum().backward()
    return {"x.grad": x.grad}


def case_use_reentrant_omitted(x):
    """Omitting ``use_reentrant`` warns that it will raise in a named release.

    2.3 and 2.4 name 2.4, 2.5 to 2.8 name 2.5, 2.9 to 2.14 name 2.9; 2.15 names none. No release raises.

    :report: pytorch/pytorch#160534
    :report: pytorch/pytorch#193711
    """
    return {"overdue": overdue_in_warnings(lambda: checkpoint(torch.sin, x))}


def case_use_reentrant_omitted_in_checkpoint_sequential(x):
    """Omitting ``use_reentrant`` in ``checkpoint_sequential`` warns that it will raise in a named release.

    It has a warning of its own, "In version 2.9 we will raise an exception if use_reentrant is not passed".

    :report: pytorch/pytorch#160534
    :report: pytorch/pytorch#193711
    """
    return {"overdue": overdue_in_warnings(lambda: checkpoint_sequential([torch.sin, torch.exp], 2, x))}


def case_use_reentrant_given(x):
    """With ``use_reentrant`` nothing is announced.

    :repairs: use_reentrant_omitted
    :repairs: use_reentrant_omitted_in_checkpoint_sequential
    """

    def both():
        checkpoint(torch.sin, x, use_reentrant=False)
        checkpoint_sequential([torch.sin, torch.exp], 2, x, use_reentrant=False)

    return {"overdue": overdue_in_warnings(both)}


def case_docstring_of_checkpoint(x):
    """The docstring of ``checkpoint`` names a release in which omitting ``use_reentrant`` raises.

    It is what the documentation shows; on 2.5 to 2.8 it names 2.4 in one paragraph and 2.5 in another.

    :report: pytorch/pytorch#193711
    :unrepaired: It is documentation: pass ``use_reentrant`` and plan with no release for the exception.
    """
    return {"overdue": overdue(checkpoint.__doc__)}


def case_docstring_of_checkpoint_sequential(x):
    """The docstring of ``checkpoint_sequential`` names a release in which omitting ``use_reentrant`` raises.

    2.15 took the release out of the other texts; this one still says "In version 2.5 we will raise an exception".

    :report: pytorch/pytorch#193711
    :unrepaired: It is documentation: pass ``use_reentrant`` and plan with no release for the exception.
    """
    return {"overdue": overdue(checkpoint_sequential.__doc__)}


def case_default_becomes_non_reentrant(x, layer):
    """The variant without reentrant autograd is announced as the default.

    2.0 to 2.2 say "future versions of PyTorch will default to use_reentrant=False"; by the old default, a layer behind
    a frozen embedding gets no gradient.

    :report: pytorch/pytorch#7617
    :report: huggingface/transformers#26221
    :inputs: frozen_inputs
    :reference: layer_reference
    """
    (checkpoint(layer, x) + layer.bias).sum().backward()
    return {"weight.grad": layer.weight.grad}


def case_no_input_requires_grad(x, layer):
    """No input requires grad, with ``use_reentrant=False``.

    The documentation: at least one input must require grad for the reentrant variant; "the non-reentrant version does
    not have this requirement".

    :repairs: default_becomes_non_reentrant
    :inputs: frozen_inputs
    :reference: layer_reference
    """
    (checkpoint(layer, x, use_reentrant=False) + layer.bias).sum().backward()
    return {"weight.grad": layer.weight.grad}


def case_keywords_and_nested_structures(x):
    """Keyword arguments and tensors in lists and dictionaries, with ``use_reentrant=False``.

    The documentation promises "support for keyword arguments", and that tensors in nested structures take part in
    autograd.

    :reference: structures_reference
    """
    product = checkpoint(named, x, shift=x, use_reentrant=False)
    checkpoint(nested, {"inputs": [product]}, use_reentrant=False)["outputs"][0].sum().backward()
    return {"x.grad": x.grad}


def case_detached_inside_reentrant(x):
    """A factor is computed without grad in the function, with ``use_reentrant=True``.

    The documentation: if the segment contains tensors detached with ``torch.no_grad``, "the backward pass will raise an
    error". It raises only if no output requires grad; here the gradient is right.

    :reference: detached_reference
    :unrepaired: There is nothing to repair: the gradient is right, and the documentation says less than is supported.
    """
    output = checkpoint(half_detached, x, use_reentrant=True)
    try:
        output.sum().backward()
    except RuntimeError:
        return {"x.grad": x.grad, "backward raises": True}
    return {"x.grad": x.grad, "backward raises": False}


def case_early_stop_with_unused_output(x):
    """Only the first of two outputs is used: is the second recomputed?

    The documentation: recomputation stops "as soon as all needed intermediate activations have been recomputed". It
    stops after as many tensors as the forward saved, needed or not.

    :requires: torch.utils.checkpoint.set_checkpoint_early_stop
    :reference: tail_reference
    """
    runs = []

    def function(x):
        first = x.sin()
        runs.append("tail")
        return first, first.exp()

    checkpoint(function, x, use_reentrant=False)[0].sum().backward()
    return {"runs of the tail": len(runs)}


def case_early_stop_in_region_of_its_own(x):
    """Each of two outputs has its own checkpoint, and only the first is used.

    :requires: torch.utils.checkpoint.set_checkpoint_early_stop
    :repairs: early_stop_with_unused_output
    :reference: tail_reference
    """
    runs = []

    def tail(first):
        runs.append("tail")
        return first.exp()

    first = checkpoint(torch.sin, x, use_reentrant=False)
    checkpoint(tail, first, use_reentrant=False)
    first.sum().backward()
    return {"runs of the tail": len(runs)}


def case_debug_gives_both_traces(x):
    """The error message under ``debug=True``, where recomputation takes another operator.

    The documentation: it will "include a trace of the operators ran during the original forward computation as well as
    the recomputation".

    :requires: torch.utils.checkpoint.checkpoint(debug)
    :reference: traces_reference
    """
    operators = [lambda x: x.exp(), lambda x: x.sin().cos()]
    output = checkpoint(lambda x: operators.pop()(x), x, use_reentrant=False, debug=True)
    try:
        output.sum().backward()
    except RuntimeError as error:
        text = str(error)
    return {"forward's operator": "aten.cos" in text, "recomputation's operator": "aten.exp" in text}


def case_deprecated_autocast(x):
    """Checkpoint itself calls what torch has deprecated.

    In 2.4, "torch.cpu.amp.autocast(args...) is deprecated" appears whenever something is recomputed, and nothing in the
    user's code causes it.

    :report: meta-pytorch/torchtune#1730
    :reference: sine_reference
    :observes: warnings
    """
    checkpoint(torch.sin, x, use_reentrant=False).sum().backward()
    return {"x.grad": x.grad}
