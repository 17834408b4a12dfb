"""Every key these programs take, with its default and limits."""

from ..sections import Rules


def _whole(default: int | None, least: int = 1, most: int = 10**9) -> dict:
    return {"type": "integer", "default": default, "min": least, "max": most}


def _number(default: float | None, least: float, most: float) -> dict:
    return {"type": "number", "default": default, "min": least, "max": most}


def _text(default: str | None = None, *choices: str) -> dict:
    return {"type": "string", "default": default, **({"choices": list(choices)} if choices else {})}


def _flag(default: bool | None = None) -> dict:
    return {"type": "boolean", "default": default}


_ANY = {"type": "any", "default": None}
_RATE = (1e-12, 1e6)

MODEL: Rules = {"source": _ANY, "transformers": _ANY, "adapters": _ANY}
SOURCE: Rules = {"type": _text(), "identifier": _text(), "revision": _text(), "trust_remote_code": _flag(), "sha256": _text()}
TRANSFORMERS: Rules = {
    "device_map": _text(None, "auto", "balanced", "cuda", "cpu"),
    "dtype": _text(None, "auto", "float32", "bfloat16", "float16"),
    "trust_remote_code": _flag(),
    "low_cpu_mem_usage": _flag(True),
    "load_in_8bit": _flag(False),
    "load_in_4bit": _flag(False),
    "use_flash_attention_2": _flag(False),
}

_DATASET: Rules = {"dataset_name": _text(), "config_name": _text(), "split": _text("train"), "revision": _text(), "sha256": _text(), "max_samples": _whole(None)}
_JSONL: Rules = {"jsonl": _ANY, "jsonl_path": _text()}
_FILE: Rules = {"path": {**_text(), "required": True, "description": "the file"}, "sha256": _text()}
DATA_TEXTS: Rules = {
    **_DATASET, **_JSONL, "prompts": _ANY, "text_field": _text(), "prompt_column": _text(), "response_column": _text(), "separator": _text("\n\n"),
}  # fmt: skip
FILE_TEXTS: Rules = {**_FILE, "text_field": _text(), "prompt_field": _text(), "response_field": _text(), "separator": _text()}
DATA_PAIRS: Rules = {
    **_DATASET, **_JSONL, "preferences": _ANY, "prompt_column": _text("prompt"), "chosen_column": _text("chosen"), "rejected_column": _text("rejected"),
}  # fmt: skip
FILE_PAIRS: Rules = {**_FILE, "prompt_field": _text(), "chosen_field": _text(), "rejected_field": _text()}
DATA_PROMPTS: Rules = {**_DATASET, **_JSONL, "prompts": _ANY, "text_field": _text(), "prompt_column": _text()}
FILE_PROMPTS: Rules = {**_FILE, "query_field": _text("query")}

_DEVICES: Rules = {
    "allow_multi_gpu": _flag(), "nproc_per_node": _whole(None, 1, 64), "primary_gpu": _whole(None, 0, 63), "visible_devices": _ANY,
}  # fmt: skip


def _training(batch_size: int, learning_rate: float) -> Rules:
    return {
        "num_train_epochs": _number(1.0, 0.001, 100_000),
        "batch_size": _whole(batch_size, 1, 65536),
        "gradient_accumulation_steps": _whole(1, 1, 65536),
        "learning_rate": _number(learning_rate, *_RATE),
        "max_seq_length": _whole(1024, 2, 10**7),
        "warmup_steps": _whole(0, 0),
        "logging_steps": _whole(10),
        "save_steps": _whole(100),
        "save_model": _flag(True),
        "gradient_checkpointing": _flag(False),
        "bf16": _flag(False),
        "resume_from_path": _text(),
        "seed": _whole(42, 0, 2**31 - 1),
        **_DEVICES,
    }


_TRAINER: Rules = {
    "save_strategy": _text("steps", "steps", "epoch", "no"), "fp16": _flag(False), "deepspeed": _ANY,
    "auto_deepspeed": _flag(), "auto_deepspeed_stage": _whole(2, 0, 3), "ddp_find_unused_parameters": _flag(),
}  # fmt: skip
TRAINING: dict[str, Rules] = {
    "sft": {**_training(2, 5e-5), **_TRAINER, "packing": _flag(False)},
    "lora_sft": {**_training(2, 2e-4), **_TRAINER, "packing": _flag(False)},
    "dpo": {**_training(4, 5e-7), **_TRAINER, "beta": _number(0.1, 1e-6, 1000)},
    "ppo": {
        **_training(4, 1.41e-5),
        "num_train_epochs": _number(None, 0.001, 100_000),
        "save_steps": _whole(None),
        "save_freq": _whole(None),
        "steps": _whole(None),
        "ppo_epochs": _whole(4, 1, 1000),
        "mini_batch_size": _whole(None),
        "num_mini_batches": _whole(None),
        "kl_coef": _number(0.05, 0, 1000),
        "target_kl": _number(None, 1e-9, 1e6),
    },
}
LORA: Rules = {
    "r": _whole(16, 1, 65536), "alpha": _number(32, 1e-6, 1e6), "dropout": _number(0.05, 0, 0.99), "bias": _text("none", "none", "all", "lora_only"),
    "target_modules": _ANY, "task_type": _text("CAUSAL_LM", "CAUSAL_LM"), "use_rslora": _flag(False),
}  # fmt: skip
REWARD: Rules = {
    **SOURCE, "type": _text("classifier", "classifier", "text-classification", "sentiment-analysis", "sequence-classification"),
    "scale": _number(1.0, -1e6, 1e6), "positive_label": _text(), "negative_label": _text(),
}  # fmt: skip
GENERATION: Rules = {
    "max_new_tokens": _whole(64, 1, 65536), "temperature": _number(1.0, 0.01, 100), "do_sample": _flag(True), "stop": _ANY,
}  # fmt: skip
