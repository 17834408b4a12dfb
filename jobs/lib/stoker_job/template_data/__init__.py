"""`data` of a template, as inference and rag take it: a list, a dataset, or results of earlier stages."""

from .prompts import Prompt, own_share, prompts_of

__all__ = ["Prompt", "own_share", "prompts_of"]
