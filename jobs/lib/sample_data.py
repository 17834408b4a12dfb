"""Small datasets and models for tests: texts that can be learned, and a tiny transformers folder built from a config."""

import json
import random
from pathlib import Path

_GOOD = ("lovely", "bright", "kind", "great")
_BAD = ("awful", "broken", "cruel", "dull")
_OTHER = ("the", "a", "house", "day", "train", "was", "very", "today")


def texts_in(file: Path, count: int, labels: tuple[str, str] = ("good", "bad"), seed: int = 0) -> Path:
    """Each text has one telling word among others."""
    source = random.Random(seed)
    rows = []
    for number in range(count):
        words = [source.choice((_GOOD, _BAD)[number % 2]), *source.choices(_OTHER, k=5)]
        source.shuffle(words)
        rows.append(json.dumps({"text": " ".join(words), "label": labels[number % 2]}) + "\n")
    file.write_text("".join(rows))
    return file


def tiny_bert(folder: Path, labels: tuple[str, ...] = ("good", "bad")) -> Path:
    """A sequence classifier with 2 layers of 32 numbers and a tokenizer of whole words; its weights know nothing yet."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    transformers.utils.logging.disable_progress_bar()
    words = ["[PAD]", "[UNK]", *_GOOD, *_BAD, *_OTHER]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=32, id2label=dict(enumerate(labels)), label2id={label: n for n, label in enumerate(labels)},
    )  # fmt: skip
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder
