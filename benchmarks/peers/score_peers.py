"""Score two public estimators of fine-tuning, fitcheck-llm and ftuneai, on the tables of measured rows.

`python benchmarks/peers/score_peers.py` reads `predictions.csv` beside this file and prints the errors.
`python benchmarks/peers/score_peers.py --run` asks both packages again and writes `predictions.csv` first;
`--loose` asks them as a hurried user would and keeps nothing. Only these two need the packages.
README.md beside this file says how the settings of a row were mapped.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

HERE = Path(__file__).resolve().parent
FACTS = HERE.parents[1] / "sim" / "physics" / "facts"
PREDICTIONS = HERE / "predictions.csv"
COLUMNS = [
    "id",
    "tool",
    "version",
    "predicted_peak_mem_gib",
    "predicted_tokens_per_s",
    "printed_total_gib",
    "note",
]
TOOLS = ("fitcheck-llm", "ftuneai")
MIB_PER_GIB = 1024
SECONDS_PER_HOUR = 3600
LONGEST_CONTEXT = 1 << 20
"""ftuneai refuses a sequence longer than the model's context; the tables do not give that: left open."""
SAMPLES = 10_000_000
"""ftuneai rounds hours to two decimals: with so many samples the rounding does not show."""


T = TypeVar("T")


class InexpressibleError(Exception):
    """The tool has no option for what the row did; the text is the reason."""


# --- the rows ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Model:
    """Dimensions of one model; `parameters` is the true count, whatever the feed-forward part."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    ffn_matrices: int
    vocab: int
    tied: bool
    parameters: int

    def llama_count(self) -> int:
        """Parameters if the model were of Llama's shape: three feed-forward matrices, no biases."""
        attention = 2 * self.hidden * (self.heads + self.kv_heads) * self.head_dim
        layer = attention + 3 * self.hidden * self.intermediate + 2 * self.hidden
        return self.layers * layer + self.hidden + self.vocab * self.hidden * (1 if self.tied else 2)


# layers, hidden, heads, KV heads, head size, intermediate, feed-forward matrices, vocabulary, tied, count
MODELS: dict[str, Model] = {
    "qwen18": Model(24, 2048, 16, 16, 128, 5504, 3, 151936, False, 1836580864),
    "qwen7": Model(32, 4096, 32, 32, 128, 11008, 3, 151936, False, 7720665088),
    "qwen14": Model(40, 5120, 40, 40, 128, 13696, 3, 152064, False, 14166261760),
    "qwen72": Model(80, 8192, 64, 64, 128, 24576, 3, 152064, False, 72284635136),
    "llama2_7": Model(32, 4096, 32, 32, 128, 11008, 3, 32000, False, 6738149376),
    "llama2_13": Model(40, 5120, 40, 40, 128, 13824, 3, 32000, False, 13015449600),
    "llama2_70": Model(80, 8192, 64, 8, 128, 28672, 3, 32000, False, 68975329280),
    "llama3_8": Model(32, 4096, 32, 8, 128, 14336, 3, 128256, False, 8029995008),
    "llama32_1": Model(16, 2048, 32, 8, 64, 8192, 3, 128256, True, 1235746816),
    "llama32_3": Model(28, 3072, 24, 8, 128, 8192, 3, 128256, True, 3212574720),
    "yi34": Model(60, 7168, 56, 8, 128, 20480, 3, 64000, False, 34388049920),
    "mistral7": Model(32, 4096, 32, 8, 128, 14336, 3, 32000, False, 7241465856),
    "codellama34": Model(48, 8192, 64, 8, 128, 22016, 3, 32000, False, 33743175680),
    "chatglm3": Model(28, 4096, 32, 2, 128, 13696, 3, 65024, False, 6243221504),
    "bc7": Model(32, 4096, 32, 32, 128, 11008, 3, 125696, False, 7505707008),
    "bc13": Model(40, 5120, 40, 40, 128, 13696, 3, 125696, False, 13896253440),
    "phi2": Model(32, 2560, 32, 32, 80, 10240, 2, 51200, False, 2778726400),
    "phi3": Model(32, 3072, 32, 32, 96, 8192, 3, 32064, False, 3820879872),
    "stablelm3": Model(16, 4096, 32, 32, 128, 16384, 2, 50688, False, 3636461568),
    "tinyllama": Model(22, 2048, 32, 4, 64, 5632, 3, 32000, False, 1099956224),
    "falcon7": Model(32, 4544, 71, 1, 64, 18176, 2, 65024, True, 6921420800),
    "falcon40": Model(60, 8192, 128, 8, 64, 32768, 2, 65024, True, 41301311488),
    "gemma2b": Model(18, 2048, 8, 1, 256, 16384, 3, 256000, True, 2506096640),
    "gemma7b": Model(28, 3072, 16, 16, 256, 24576, 3, 256000, True, 8537505792),
    "mpt1b": Model(24, 2048, 16, 16, 128, 8192, 2, 50368, True, 1311113216),
    "mpt3b": Model(32, 2560, 20, 20, 128, 10240, 2, 50368, True, 2645524480),
    "mpt7b": Model(32, 4096, 32, 32, 128, 16384, 2, 50368, True, 6648758272),
    "mpt30b": Model(48, 7168, 56, 56, 128, 28672, 2, 50368, True, 29956046848),
}


@dataclass(frozen=True)
class Run:
    """One row of either table, read."""

    name: str
    model: Model
    method: str  # full, lora, qlora4, qlora8
    quant: str  # nf4, nf4dq, bnb4, gptq4, gptq8 or empty
    rank: int
    modules: str
    micro_batch: int
    seq_len: int
    checkpointing: bool
    flash: bool
    split: str
    cards: int
    gpu: str
    optimizer: str
    plain_16_bit: bool  # optimizer states in 16 bit, no fp32 copy
    fp32_master: bool
    allocated: bool  # the figure to meet is of bytes the framework allocated, not of the card
    fp8: bool
    loose: bool  # see `loosen`


WANTED = ("micro_batch", "seq_len", "grad_ckpt", "flash_attn", "zero_or_fsdp", "n_gpus", "gpu", "optimizer")
KNOWN_METHODS = ("full", "lora", "qlora4", "qlora8")


def read_tables(facts: Path) -> pd.DataFrame:
    """Both tables in one frame, with the column `kind`."""
    published = pd.read_csv(facts / "measurements.csv").assign(kind="published")
    traced = pd.read_csv(facts / "traced_memory.csv").assign(kind="traced")
    return pd.concat([published, traced], ignore_index=True)


def text(value: Any) -> str:
    """A cell as text, empty where the table has nothing."""
    return "" if pd.isna(value) else str(value)


def read_model(row: pd.Series) -> Model:
    """The dimensions: of the row itself where it has them, else of the table above."""
    if pd.isna(row["layers"]):
        model = MODELS.get(text(row["arch"]))
        if model is None:
            msg = "the row names no model whose dimensions are known"
            raise InexpressibleError(msg)
        return model
    keys = ("layers", "hidden", "heads", "kv_heads", "intermediate", "vocab")
    layers, hidden, heads, kv_heads, intermediate, vocab = (int(row[key]) for key in keys)
    tied = bool(row["tied"])
    head_dim = hidden // heads
    shape = Model(layers, hidden, heads, kv_heads, head_dim, intermediate, 3, vocab, tied, 0)
    return Model(layers, hidden, heads, kv_heads, head_dim, intermediate, 3, vocab, tied, shape.llama_count())


def read_run(row: pd.Series) -> Run:
    """The row as a run, or the reason why it is none."""
    method = text(row["method"])
    if method not in KNOWN_METHODS:
        msg = f"method '{method}' is neither full, LoRA nor QLoRA fine-tuning of a stated kind"
        raise InexpressibleError(msg)
    model = read_model(row)
    missing = [key for key in WANTED if pd.isna(row[key])]
    if method != "full":
        missing += [key for key in ("rank", "target_modules") if pd.isna(row[key])]
    if missing:
        msg = "the row does not say: " + ", ".join(missing)
        raise InexpressibleError(msg)
    bytes_tag = text(row["optim_bytes_tag"])
    plain_full = method == "full" and bytes_tag != "ds" and text(row["fp32_master"]) != "y"
    return Run(
        name=text(row["model"]),
        model=model,
        method=method,
        quant=text(row["quant_fmt"]),
        rank=0 if method == "full" else int(row["rank"]),
        modules=text(row["target_modules"]),
        micro_batch=int(row["micro_batch"]),
        seq_len=int(row["seq_len"]),
        checkpointing=row["grad_ckpt"] == "y",
        flash=row["flash_attn"] == "y",
        split=text(row["zero_or_fsdp"]),
        cards=int(row["n_gpus"]),
        gpu=text(row["gpu"]),
        optimizer=text(row["optimizer"]),
        plain_16_bit=bytes_tag == "bf16" or plain_full,
        fp32_master=text(row["fp32_master"]) == "y",
        allocated="allocated" in text(row["mem_kind"]),
        fp8=text(row["stack"]) == "optimized_fp8",
        loose=False,
    )


def loosen(run: Run) -> Run:
    """The run as asked by someone who does not look: whole-trained embeddings and 16-bit states unseen."""
    return replace(run, modules=run.modules.replace("+wte,lm_head", ""), plain_16_bit=False, loose=True)


def known_modules(run: Run, known: Mapping[str, T]) -> T | None:
    """What the tool calls the modules with adapters; None for full fine-tuning."""
    if run.method == "full":
        return None
    if run.modules not in known:
        msg = f"adapters on '{run.modules}': not among the tool's targets"
        raise InexpressibleError(msg)
    return known[run.modules]


@dataclass(frozen=True)
class Answer:
    """What a tool says of a run: memory with and without what it lists as overhead, GiB; tokens/s."""

    total_gib: float
    tensors_gib: float
    tokens_per_s: float | None
    notes: list[str]


def check_common(run: Run) -> list[str]:
    """What neither tool can express, and the approximations that both need."""
    if "wte,lm_head" in run.modules:
        msg = "embeddings and lm_head are trained in full beside the adapters; no option for that"
        raise InexpressibleError(msg)
    notes = []
    if run.modules.endswith("head"):
        notes.append("adapter on lm_head left out")
    if run.quant in ("gptq4", "gptq8"):
        notes.append("GPTQ taken as the tool's own format of as many bits")
    if run.method.startswith("qlora") and not run.quant:
        notes.append("the row names no format: taken as NF4 or INT8 without quantised scales")
    if run.split == "ddp" or (run.split == "none" and run.cards > 1):
        notes.append("data parallel: every card holds all, so memory is that of one card")
    if run.split == "zero3" and run.cards == 1:
        notes.append("ZeRO-3 on one card shards nothing: taken as unsharded")
    return notes


# --- fitcheck-llm -----------------------------------------------------------------------------------------

FITCHECK_GPUS = {
    "A100-80GB": "a100-80",
    "A100-SXM4-80GB": "a100-80",
    "A100-40GB": "a100-40",
    "A100-SXM4-40GB": "a100-40",
    "H100-SXM5-80GB": "h100-80",
    "A10G-24GB": "a10",
    "T4-16GB": "t4",
    "RTX 3090": "3090",
    "RTX 4090": "4090",
}
QKV = ["q_proj", "k_proj", "v_proj"]
MLP = ["gate_proj", "up_proj", "down_proj"]
FITCHECK_MODULES = {
    "all-linear": [*QKV, "o_proj", *MLP],
    "c_attn,c_proj,w1,w2": [*QKV, "o_proj", *MLP],
    "query,key,value,projection,mlp,head": [*QKV, "o_proj", *MLP],
    "k,q,v,up,down,gate": [*QKV, *MLP],
    "DEFAULT(c_attn / qkv)": QKV,
    "q,v": ["q_proj", "v_proj"],
    "query,value": ["q_proj", "v_proj"],
    "q_proj,v_proj": ["q_proj", "v_proj"],
}
FITCHECK_QUANT = {
    "nf4": ("nf4", False),
    "bnb4": ("nf4", False),
    "nf4dq": ("nf4", True),
    "gptq4": ("nf4", True),
    "gptq8": ("int8", False),
    "int8": ("int8", False),
}
PARAMETER_TOLERANCE = 0.02
"""fitcheck-llm refuses a model whose count by Llama's shape is further than this from the true one."""


def fitcheck_scope(run: Run) -> None:
    """Raise where the tool's own rules say that the run is outside what it models."""
    if run.cards > 1 and run.split not in ("none", "ddp"):
        msg = f"'{run.split}' on {run.cards} cards: the tool has no sharding"
        raise InexpressibleError(msg)
    if "offload" in run.split:
        msg = "offload to the host: no option"
        raise InexpressibleError(msg)
    model = run.model
    if not run.loose and abs(model.llama_count() / model.parameters - 1) > PARAMETER_TOLERANCE:
        msg = "not of Llama's shape (two feed-forward matrices): the tool refuses such a model"
        raise InexpressibleError(msg)


def fitcheck_quant(run: Run) -> tuple[str, bool]:
    """The format of the frozen weights and whether their scales are quantised too."""
    if run.method in ("full", "lora"):
        return "none", False
    return FITCHECK_QUANT[run.quant or ("int8" if run.method == "qlora8" else "nf4")]


def ask_fitcheck(run: Run) -> Answer:
    """fitcheck-llm, by its public `estimate`; its dimensions object is filled by hand, no hub is asked."""
    from fitcheck import ModelConfig, TrainingConfig, estimate, get_gpu

    notes = check_common(run)
    fitcheck_scope(run)
    if run.gpu not in FITCHECK_GPUS:
        notes.append(f"'{run.gpu}' is no card of the tool: A100 80G taken, which changes no byte")
    if run.plain_16_bit and run.method == "full":
        notes.append("16-bit AdamW states set; the fp32 copy that the tool adds cannot be turned off")
    if run.plain_16_bit and run.method != "full":
        notes.append("16-bit AdamW states set; adapters stay fp32, no option")
    model, (quantization, double_quant) = run.model, fitcheck_quant(run)
    config = ModelConfig(
        name=run.name,
        num_params=model.parameters,
        hidden_size=model.hidden,
        num_layers=model.layers,
        num_attention_heads=model.heads,
        num_kv_heads=model.kv_heads,
        intermediate_size=model.intermediate,
        vocab_size=model.vocab,
        head_dim=model.head_dim,
        tie_word_embeddings=model.tied,
    )
    training = TrainingConfig(
        precision="bf16",
        quantization=quantization,
        double_quant=double_quant,
        optimizer="adam8bit" if run.optimizer == "adamw_8bit" else "adamw",
        optimizer_dtype="bf16" if run.plain_16_bit and run.optimizer != "adamw_8bit" else "fp32",
        batch_size=run.micro_batch,
        seq_len=run.seq_len,
        lora_rank=None if run.method == "full" else run.rank,
        lora_targets=known_modules(run, FITCHECK_MODULES) or QKV,
        grad_checkpoint=run.checkpointing,
        flash_attn=run.flash,
    )
    report = estimate(config, training, get_gpu(FITCHECK_GPUS.get(run.gpu, "a100-80")))
    tensors = report.total_mib - report.overhead_mib
    return Answer(report.total_mib / MIB_PER_GIB, tensors / MIB_PER_GIB, None, notes)


# --- ftuneai ----------------------------------------------------------------------------------------------

FTUNEAI_GPUS = {
    "A100-80GB": "A100-80GB",
    "A100-SXM4-80GB": "A100-80GB",
    "A100-40GB": "A100-40GB",
    "A100-SXM4-40GB": "A100-40GB",
    "H100-SXM5-80GB": "H100-80GB",
    "A10G-24GB": "A10G-24GB",
    "T4-16GB": "T4-16GB",
    "RTX 3090": "RTX-3090-24GB",
    "RTX 4090": "RTX-4090-24GB",
}
FTUNEAI_TARGETS = {
    "all-linear": "all_linear",
    "c_attn,c_proj,w1,w2": "all_linear",
    "query,key,value,projection,mlp,head": "all_linear",
    "k,q,v,up,down,gate": "all_linear",
    "DEFAULT(c_attn / qkv)": "attention_all",
    "q,v": "attention",
    "query,value": "attention",
    "q_proj,v_proj": "attention",
}
FTUNEAI_SPLITS = {
    "none": "none",
    "ddp": "none",
    "zero3": "zero_3",
    "fsdp": "fsdp",
    "fsdp(shard_grad_op)": "fsdp_shard_grad",
}


def ftuneai_notes(run: Run) -> list[str]:
    """The approximations that the tool's options force."""
    notes = check_common(run)
    if run.split not in FTUNEAI_SPLITS:
        msg = f"'{run.split}': no such strategy in the tool"
        raise InexpressibleError(msg)
    if run.modules == "DEFAULT(c_attn / qkv)":
        notes.append("adapters on q, k, v taken as q, k, v, o")
    if run.modules == "k,q,v,up,down,gate":
        notes.append("adapters on all but o taken as all linear layers")
    if run.plain_16_bit and run.method == "full":
        notes.append("16-bit AdamW states cannot be set: 8 bytes a parameter")
    if run.method == "full" and run.fp32_master:
        notes.append("fp32 weights set as the model's dtype")
    if run.model.ffn_matrices == 2 and known_modules(run, FTUNEAI_TARGETS) == "all_linear":
        notes.append("adapters counted for three feed-forward matrices, the model has two")
    return notes


def ftuneai_speed(run: Run, estimator: Any, notes: list[str]) -> float | None:
    """Tokens/s of all cards together, from the hours the tool gives for a large data set."""
    from ftuneai import get_gpu

    if run.fp8:
        notes.append("no speed: the run is in FP8, no option")
        return None
    if run.gpu not in FTUNEAI_GPUS:
        notes.append(f"no speed: '{run.gpu}' is no card of the tool")
        return None
    took = estimator.estimate(
        gpu=get_gpu(FTUNEAI_GPUS[run.gpu]), dataset_size=SAMPLES, epochs=1, num_gpus=run.cards
    )
    return float(took.total_tokens / (took.total_hours * SECONDS_PER_HOUR))


def ask_ftuneai(run: Run) -> Answer:
    """ftuneai, by the two estimators behind its `Estimator`, so that the dimensions can be given by hand."""
    from ftuneai import (
        FineTuneMethod,
        LoRATarget,
        ModelSpec,
        OptimizerType,
        Quantization,
        ShardingStrategy,
        TrainingConfig,
    )
    from ftuneai.core.memory import MemoryEstimator
    from ftuneai.core.time import TimeEstimator

    notes = ftuneai_notes(run)
    model = run.model
    spec = ModelSpec(
        name=run.name,
        parameters=model.parameters,
        hidden_size=model.hidden,
        num_layers=model.layers,
        num_attention_heads=model.heads,
        num_kv_heads=model.kv_heads,
        intermediate_size=model.intermediate,
        vocab_size=model.vocab,
        max_seq_length=LONGEST_CONTEXT,
        default_dtype="float32" if run.method == "full" and run.fp32_master else "bfloat16",
    )
    bits = {"qlora4": Quantization.INT4, "qlora8": Quantization.INT8}
    config = TrainingConfig(
        model=run.name,
        method=FineTuneMethod.QLORA if run.method in bits else FineTuneMethod(run.method),
        quantization=bits.get(run.method, Quantization.NONE),
        batch_size=run.micro_batch,
        seq_length=run.seq_len,
        gradient_checkpointing=run.checkpointing,
        optimizer=OptimizerType.ADAM_8BIT if run.optimizer == "adamw_8bit" else OptimizerType.ADAMW,
        lora_rank=run.rank,
        lora_target=LoRATarget(known_modules(run, FTUNEAI_TARGETS) or "attention"),
        flash_attention=run.flash,
        sharding=ShardingStrategy(FTUNEAI_SPLITS[run.split]),
        num_gpus=run.cards,
    )
    memory = MemoryEstimator(spec, config).estimate()
    speed = ftuneai_speed(run, TimeEstimator(spec, config), notes)
    return Answer(memory.total_gb, memory.total_gb - memory.overhead_gb, speed, notes)


ASK: dict[str, Callable[[Run], Answer]] = {"fitcheck-llm": ask_fitcheck, "ftuneai": ask_ftuneai}


def predict(row: pd.Series, tool: str, *, loose: bool = False) -> dict[str, object]:
    """One line of the file of predictions."""
    line: dict[str, object] = {"id": row["id"], "tool": tool, "version": version(tool)}
    try:
        run = read_run(row)
        answer = ASK[tool](loosen(run) if loose else run)
    except InexpressibleError as reason:
        return {**line, "note": str(reason)}
    if run.allocated:
        answer.notes.append("a figure of allocated bytes: the overhead that the tool lists apart is left out")
    return {
        **line,
        "predicted_peak_mem_gib": round(answer.tensors_gib if run.allocated else answer.total_gib, 3),
        "predicted_tokens_per_s": None if answer.tokens_per_s is None else round(answer.tokens_per_s, 1),
        "printed_total_gib": round(answer.total_gib, 3),
        "note": "; ".join(answer.notes),
    }


def ask_all(rows: pd.DataFrame, *, loose: bool = False) -> pd.DataFrame:
    """Every tool on every row of both tables."""
    lines = [predict(row, tool, loose=loose) for tool in TOOLS for _, row in rows.iterrows()]
    return pd.DataFrame(lines, columns=COLUMNS)


# --- the score --------------------------------------------------------------------------------------------


def errors(predicted: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """One line a tool, row and quantity that can be scored; `error` is predicted over measured, less one."""
    both = predicted.merge(rows, on="id", validate="many_to_one")
    pairs = (
        ("memory", "fit_mem", "predicted_peak_mem_gib", "peak_mem_gib"),
        ("memory, printed total", "fit_mem", "printed_total_gib", "peak_mem_gib"),
        ("speed", "fit_thr", "predicted_tokens_per_s", "tokens_per_s_total"),
    )
    parts = []
    for quantity, flag, mine, theirs in pairs:
        part = both[(both[flag] == 1) & both[theirs].notna()]
        parts.append(part.assign(quantity=quantity, error=part[mine] / part[theirs] - 1))
    return pd.concat(parts, ignore_index=True)


def summary(scored: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Rows, rows the tool could not express, median and 90th percentile of the error, and its sign."""
    grouped = scored.assign(size=scored["error"].abs()).groupby(keys, sort=True)
    table = pd.DataFrame(
        {
            "rows": grouped["error"].count(),
            "no answer": grouped["id"].count() - grouped["error"].count(),
            "median %": 100 * grouped["size"].median(),
            "p90 %": 100 * grouped["size"].quantile(0.9),
            "signed median %": 100 * grouped["error"].median(),
        }
    )
    answers = table["rows"] > 0
    return table[answers].round(1)


def report(scored: pd.DataFrame) -> None:
    """Print the tables of README.md."""
    by_rows = ["tool", "quantity", "kind"]
    print("All methods together\n")
    print(summary(scored, by_rows).to_string())
    main = scored[scored["quantity"].isin(["memory", "speed"])]
    print("\nBy method\n")
    print(summary(main, [*by_rows, "method"]).to_string())
    print("\nPublished rows by source\n")
    short = main[main["kind"] == "published"].assign(
        source=lambda frame: frame["source"].str.split(" ").str[0]
    )
    print(summary(short, ["tool", "quantity", "source"]).to_string())


def main() -> None:
    """Read the arguments, predict if asked to, and score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", action="store_true", help="ask both packages again (both installed)")
    parser.add_argument("--facts", type=Path, default=FACTS, help="folder of the two tables of rows")
    parser.add_argument("--predictions", type=Path, default=PREDICTIONS, help="the file of predictions")
    parser.add_argument("--loose", action="store_true", help="ask again, less carefully; nothing is kept")
    options = parser.parse_args()
    rows = read_tables(options.facts)
    if options.loose:
        report(errors(ask_all(rows, loose=True), rows))
        return
    if options.run:
        ask_all(rows).to_csv(options.predictions, index=False, lineterminator="\n")
    report(errors(pd.read_csv(options.predictions), rows))


if __name__ == "__main__":
    main()
