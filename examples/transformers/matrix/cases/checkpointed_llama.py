"""A transformers model that checkpoints its layers, under an attention scope that is left before backward.

The model is a tiny one with random weights, so nothing is downloaded. ``gradient_checkpointing_enable()`` makes every layer a
checkpoint; a scope around the model's forward alone has ended when backward recomputes them.
"""

import torch

FAMILY = "attention"


def math_only():
    """Open a scope in which attention may use no kernel but MATH."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel(SDPBackend.MATH)


def model(checkpointed=True, **options):
    """Make a Llama of two layers in training mode; its weights and inputs are the same every time."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(1729)
    made = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=32,
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=32,
            attention_dropout=0.0,
            use_cache=False,
            attn_implementation="sdpa",
        )
    )
    if checkpointed:
        made.gradient_checkpointing_enable(**options)
    return made.train()


def forward(made, tokens):
    """The loss of next-token prediction."""
    return made(input_ids=tokens, labels=tokens).loss


def backward(made, loss):
    """Run backward and return what is compared: the loss, and the gradient of every parameter."""
    loss.backward()
    return {"loss": loss, **{name: parameter.grad for name, parameter in made.named_parameters()}}


def inputs():
    """A batch of one sentence."""
    torch.manual_seed(2718)
    return (torch.randint(0, 32, (1, 8)),)


def reference(tokens):
    """The same step without checkpointing, in a MATH scope."""
    made = model(checkpointed=False)
    with math_only():
        return backward(made, forward(made, tokens))


def default_reference(tokens):
    """The same step without checkpointing, under the default policy."""
    made = model(checkpointed=False)
    return backward(made, forward(made, tokens))


def case_default_policy(tokens):
    """No scope at all.

    The policy is the same in forward and in recomputation: the control of this file.

    :reference: default_reference
    """
    made = model(gradient_checkpointing_kwargs={"use_reentrant": False})
    return backward(made, forward(made, tokens))


def case_math_around_forward_only(tokens):
    """MATH scope around the model's forward only.

    The layers are recomputed in backward, when the scope has ended: by another kernel, which saves other tensors.

    :report: huggingface/trl#4314
    """
    made = model(gradient_checkpointing_kwargs={"use_reentrant": False})
    with math_only():
        loss = forward(made, tokens)
    return backward(made, loss)


def case_math_around_the_step(tokens):
    """MATH scope around forward and backward.

    Recomputation finds the policy that forward had.

    :repairs: math_around_forward_only
    :repairs: math_around_forward_only_as_enabled
    :repairs: reentrant_math_around_forward_only
    """
    made = model(gradient_checkpointing_kwargs={"use_reentrant": False})
    with math_only():
        return backward(made, forward(made, tokens))


def case_math_around_forward_only_as_enabled(tokens):
    """MATH scope around the forward only, with ``gradient_checkpointing_enable()`` as it comes.

    Which kind of checkpoint that is, transformers decides: reentrant in 4.57, non-reentrant in 5.24.
    """
    made = model()
    with math_only():
        loss = forward(made, tokens)
    return backward(made, loss)


def case_reentrant_math_around_forward_only(tokens):
    """MATH scope around the forward only, with ``use_reentrant=True``.

    A reentrant checkpoint compares nothing: recomputation runs another kernel than forward did, and nobody is told.
    """
    made = model(gradient_checkpointing_kwargs={"use_reentrant": True})
    with math_only():
        loss = forward(made, tokens)
    return backward(made, loss)
