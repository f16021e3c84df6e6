"""A transformers model that is run without gradients and then trained on, under autocast.

So do trainers that first compute the log-probabilities or the loss of a batch with the model as it is. Autocast keeps the weights
that it has cast until its outermost scope closes; what it cast under ``no_grad`` may have no gradient history.
"""

import torch

FAMILY = "autocast"


def autocast():
    """Mixed precision, as on an accelerator."""
    return torch.autocast("cpu", torch.bfloat16)


def model(checkpointed=True):
    """Make a Llama of two layers in training mode; its weights are the same every time."""
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
        made.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
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
    """The step alone, without checkpointing."""
    made = model(checkpointed=False)
    with autocast():
        loss = forward(made, tokens)
    return backward(made, loss)


def case_trained_alone(tokens):
    """The step alone.

    The control of this file: what is recomputed finds autocast as forward did, for checkpoint restores it.
    """
    made = model()
    with autocast():
        loss = forward(made, tokens)
    return backward(made, loss)


def case_scored_in_the_same_scope(tokens):
    """The model is run under no_grad, and then trained on, in one autocast scope.

    :report: pytorch/pytorch#141896
    :report: pytorch/pytorch#112583
    """
    made = model()
    with autocast():
        with torch.no_grad():
            forward(made, tokens)
        loss = forward(made, tokens)
    return backward(made, loss)


def case_scored_in_a_scope_of_its_own(tokens):
    """The model is run under no_grad in one autocast scope, and trained on in the next.

    The cache is emptied when the outermost autocast scope closes.

    :repairs: scored_in_the_same_scope
    """
    made = model()
    with autocast(), torch.no_grad():
        forward(made, tokens)
    with autocast():
        loss = forward(made, tokens)
    return backward(made, loss)
