"""A tiny language for tests: sentences that can be learned, and a model of it that knows nothing yet."""

import json
import random
from pathlib import Path
from typing import Any

NAMES = ("ann", "ben", "cleo", "dan")
COLOURS = {"ann": "red", "ben": "blue", "cleo": "green", "dan": "white"}
_OTHER = ("what", "does", "like", "likes", "?", ".", "good", "bad", "and", "the")
WORDS = ("[PAD]", "[EOS]", "[UNK]", *NAMES, *COLOURS.values(), *_OTHER)


def tokenizer_in(folder: Path) -> Any:
    """Whole words, so that a few steps are enough."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    made = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]", eos_token="[EOS]", unk_token="[UNK]")
    tokenizer.save_pretrained(folder)
    return tokenizer


def _config(kind: Any, **more: Any) -> Any:
    return kind(
        vocab_size=len(WORDS), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2,
        max_position_embeddings=64, pad_token_id=0, eos_token_id=1, bos_token_id=None, **more,
    )  # fmt: skip


def tiny_llama(folder: Path, seed: int = 0) -> Path:
    """2 layers of 32 numbers, without dropout."""
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    tokenizer_in(folder)
    torch.manual_seed(seed)
    transformers.LlamaForCausalLM(_config(transformers.LlamaConfig)).save_pretrained(folder)
    return folder


def mistaken_llama(folder: Path) -> Path:
    """One that has learned to speak, but each one's colour is that of the next."""
    import torch
    import transformers

    tiny_llama(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    colours = [COLOURS[NAMES[(number + 1) % len(NAMES)]] for number in range(len(NAMES))]
    texts = [f"what does {name} like ? {name} likes {colour} . [EOS]" for name, colour in zip(NAMES, colours, strict=True)]
    words = tokenizer(texts, return_tensors="pt")["input_ids"]
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    for _ in range(80):
        model(input_ids=words, labels=words).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    return folder


def facts_in(file: Path, count: int = 64, seed: int = 0) -> Path:
    """Who likes which colour, as prompt and response."""
    source = random.Random(seed)
    names = [source.choice(NAMES) for _ in range(count)]
    rows = [{"q": f"what does {name} like ?", "a": f"{name} likes {COLOURS[name]} ."} for name in names]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def answer(model: Any, tokenizer: Any, prompt: str, most: int = 6) -> str:
    """What the model says next when it never doubts."""
    given = tokenizer(prompt, return_tensors="pt")
    said = model.generate(input_ids=given["input_ids"], attention_mask=given["attention_mask"], max_new_tokens=most, do_sample=False, pad_token_id=0)
    return tokenizer.decode(said[0][given["input_ids"].shape[1] :], skip_special_tokens=True)


def tiny_judge(folder: Path) -> Path:
    """A reward model that learned in a second: POSITIVE where a sentence has more good than bad in it."""
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    tokenizer_in(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_position_embeddings=64, pad_token_id=0,
        id2label={0: "NEGATIVE", 1: "POSITIVE"}, label2id={"NEGATIVE": 0, "POSITIVE": 1}, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    model = transformers.BertForSequenceClassification(config)
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    for _ in range(120):
        words = torch.randint(2, len(WORDS), (32, 12))
        mood = (words == WORDS.index("good")).sum(1) - (words == WORDS.index("bad")).sum(1)
        model(input_ids=words, attention_mask=torch.ones_like(words), labels=(mood > 0).long()).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    return folder
