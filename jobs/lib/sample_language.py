"""A tiny causal language model and adapters for it, built from a config for tests: two layers, one token for each byte."""

from pathlib import Path
from typing import Any

_CHAT = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"


def tiny_llama(folder: Path, seed: int = 0, chat_template: str | None = _CHAT, window: int = 256) -> Path:
    """Its weights are large enough to talk without end, and each seed says something else."""
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    transformers.utils.logging.disable_progress_bar()
    special = ["<pad>", "<s>", "</s>"]
    vocabulary = {word: number for number, word in enumerate([*special, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>")
    fast.chat_template = chat_template
    fast.save_pretrained(folder)
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=window, bos_token_id=1, eos_token_id=2, pad_token_id=0, initializer_range=0.3,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def tiny_lora(folder: Path, base: Path, seed: int = 0) -> Path:
    """An adapter that changes what the model says."""
    import peft
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(base)
    torch.manual_seed(seed)
    config = peft.LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM", init_lora_weights=False)
    peft.get_peft_model(model, config).save_pretrained(folder)
    return folder


def direct(folder: Path, prompt: str, **options: Any) -> tuple[list[int], str]:
    """The tokens and the text that transformers itself comes to."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    given = tokenizer(prompt, return_tensors="pt")
    if "seed" in options:
        torch.manual_seed(options.pop("seed"))
    with torch.inference_mode():
        tokens = model.generate(**given, **options)[0][given["input_ids"].shape[1] :].tolist()
    return tokens, tokenizer.decode(tokens, skip_special_tokens=True)
