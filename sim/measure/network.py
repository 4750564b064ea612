"""A model built from its dimensions, with random weights made where they are used.

Nothing is downloaded: three matrices in the feed-forward layer make a Llama block, two a StarCoder2
block (no gate, any number of key heads); both have the same attention. Weights are made layer by
layer on the device, from a model without storage, so the machine needs no memory for a second copy.
A quantised base is quantised in the same walk, one layer at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sim.measure.case import Case, Method
from sim.model.hardware import LanguageModel

if TYPE_CHECKING:
    import torch

__all__ = ["WEIGHT_SPREAD", "build", "half_type", "prepare", "skeleton", "uses_autocast"]

WEIGHT_SPREAD = 0.02
"""Standard deviation of random weights, as transformers begins training with."""

IMPLEMENTATIONS = {"flash": "sdpa", "eager": "eager"}
"""Attention of a case -> transformers' name of it."""


def half_type(device: str) -> torch.dtype:
    """The 16-bit type of the device: bfloat16, or float16 on cards older than Ampere."""
    import torch

    old = device == "cuda" and torch.cuda.get_device_capability() < (8, 0)
    return torch.float16 if old else torch.bfloat16


def skeleton(model: LanguageModel, case: Case, dtype: torch.dtype) -> Any:
    """The transformers model of these dimensions, without storage for its weights."""
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(
            _config(model, case.seq_len), dtype=dtype, attn_implementation=IMPLEMENTATIONS[case.attention]
        )


def _config(model: LanguageModel, seq_len: int) -> Any:
    from transformers import LlamaConfig, Starcoder2Config

    shapes = {
        "vocab_size": model.vocab,
        "hidden_size": model.hidden,
        "intermediate_size": model.intermediate,
        "num_hidden_layers": model.layers,
        "num_attention_heads": model.heads,
        "num_key_value_heads": model.kv_heads,
        "head_dim": model.head_dim,
        "max_position_embeddings": seq_len,
        "tie_word_embeddings": model.tied_embeddings,
        "use_cache": False,
        # A small vocabulary has no entry where the defaults of these stand.
        "bos_token_id": None,
        "eos_token_id": None,
    }
    return LlamaConfig(**shapes) if model.ffn_matrices == 3 else Starcoder2Config(use_bias=False, **shapes)


def build(model: LanguageModel, case: Case, device: str) -> Any:
    """The model with random weights on the device, base quantised if the method says so.

    Raises torch's out-of-memory error where the device cannot hold it.
    """
    import torch

    torch.manual_seed(0)
    dtype = half_type(device)
    network = skeleton(model, case, dtype)
    if case.quantised:
        from sim.measure.quantised import quantised_linear

        for name, module in list(network.named_modules()):
            if type(module) is torch.nn.Linear and not name.startswith("lm_head"):
                network.set_submodule(
                    name, quantised_linear(module, case.method, dtype, device, WEIGHT_SPREAD)
                )
        # How peft and its preparation recognise a quantised base.
        network.is_loaded_in_4bit = case.method == "qlora4"
        network.is_loaded_in_8bit = case.method == "qlora8"
    _materialise(network, device)
    return network


def _materialise(network: Any, device: str) -> None:
    import torch

    for path, module in list(network.named_modules()):
        if type(module).__name__.endswith("RotaryEmbedding"):
            # Its tables follow from the configuration; without storage they were never computed.
            with torch.device(device):
                network.set_submodule(path, type(module)(config=network.config))
            continue
        own = dict(module.named_parameters(recurse=False))
        if not any(weight.is_meta for weight in own.values()):
            continue
        module.to_empty(device=device, recurse=False)
        with torch.no_grad():
            for name, weight in module.named_parameters(recurse=False):
                _fill(weight, is_bias=name == "bias")
    if network.config.tie_word_embeddings:
        # Getting storage one by one has parted the two.
        network.get_output_embeddings().weight = network.get_input_embeddings().weight


def _fill(weight: torch.Tensor, is_bias: bool) -> None:
    if is_bias:
        weight.zero_()
    elif weight.dim() == 1:
        weight.fill_(1.0)
    else:
        weight.normal_(0.0, WEIGHT_SPREAD)


def prepare(network: Any, case: Case) -> Any:
    """The model ready for its steps: adapters, checkpointing, what is trained and in which type."""
    if case.quantised:
        from peft import prepare_model_for_kbit_training

        # Embeddings and head become 32-bit; checkpointing is turned on below, the same for all.
        network = prepare_model_for_kbit_training(network, use_gradient_checkpointing=False)
    if case.checkpointing:
        # The name of transformers 5; version 6 is to drop the one before it.
        turn_on = getattr(network, "activation_checkpointing_enable", None)
        (turn_on or network.gradient_checkpointing_enable)({"use_reentrant": False})
        if case.method != "full":
            network.enable_input_require_grads()
    network.train()
    return network if case.method == "full" else _with_adapters(network, case)


def _with_adapters(network: Any, case: Case) -> Any:
    from peft import LoraConfig, get_peft_model

    layers: str | list[str] = ["q_proj", "v_proj"] if case.targets == "qv" else "all-linear"
    # peft keeps adapters in 32 bits beside a 16-bit base unless told otherwise; so does this.
    adapters = LoraConfig(
        r=case.rank,
        lora_alpha=2 * case.rank,
        lora_dropout=0.0,
        target_modules=layers,
        bias="none",
        task_type="CAUSAL_LM",
    )
    return get_peft_model(network, adapters)


def uses_autocast(method: Method) -> bool:
    """Adapters run under autocast; full fine-tuning in its 16-bit type throughout."""
    return method != "full"
