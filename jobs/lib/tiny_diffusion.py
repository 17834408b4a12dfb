"""A whole Stable Diffusion pipeline of some hundred kilobytes, for tests: built from configs, its weights know nothing."""

import string
from pathlib import Path

import diffusers
import torch
import transformers

_WIDTH, _TOKENS = 16, 16


def tiny_diffusion(folder: Path, *, with_safety_checker: bool = False) -> Path:
    """Makes pictures of 64 x 64; the seed of its weights is fixed, so that each is the same as the other."""
    diffusers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(0)
    checker = _safety_checker() if with_safety_checker else None
    diffusers.StableDiffusionPipeline(
        vae=_autoencoder(), text_encoder=_text_encoder(), tokenizer=_tokenizer(), unet=_unet(), scheduler=_scheduler(),
        safety_checker=checker, feature_extractor=_eyes() if checker else None, requires_safety_checker=with_safety_checker,
    ).save_pretrained(folder)  # fmt: skip
    return folder


def _vocabulary() -> dict[str, int]:
    """Letters, each also as the last of a word."""
    letters = [letter + end for letter in string.ascii_lowercase for end in ("", "</w>")]
    return {word: number for number, word in enumerate(["<|startoftext|>", "<|endoftext|>", *letters])}


def _tokenizer() -> transformers.CLIPTokenizer:
    end = "<|endoftext|>"
    return transformers.CLIPTokenizer(vocab=_vocabulary(), merges=[], model_max_length=_TOKENS, unk_token=end, pad_token=end)


def _text_encoder() -> transformers.CLIPTextModel:
    config = transformers.CLIPTextConfig(
        vocab_size=len(_vocabulary()), hidden_size=_WIDTH, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=_TOKENS, projection_dim=_WIDTH, bos_token_id=0, eos_token_id=1, pad_token_id=1,
    )  # fmt: skip
    return transformers.CLIPTextModel(config)


def _unet() -> diffusers.UNet2DConditionModel:
    return diffusers.UNet2DConditionModel(
        sample_size=8, block_out_channels=(8, 16), layers_per_block=1, norm_num_groups=4, cross_attention_dim=_WIDTH, attention_head_dim=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip


def _autoencoder() -> diffusers.AutoencoderKL:
    return diffusers.AutoencoderKL(
        block_out_channels=(8,) * 4, down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4,
        latent_channels=4, norm_num_groups=4, layers_per_block=1, sample_size=64,
    )  # fmt: skip


def _scheduler() -> diffusers.DDIMScheduler:
    return diffusers.DDIMScheduler(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", clip_sample=False, steps_offset=1)


def _safety_checker() -> torch.nn.Module:
    from diffusers.pipelines.stable_diffusion import StableDiffusionSafetyChecker

    vision = {"hidden_size": _WIDTH, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 32, "patch_size": 16}
    checker = StableDiffusionSafetyChecker(transformers.CLIPConfig(vision_config=vision, projection_dim=_WIDTH))
    torch.nn.init.constant_(checker.concept_embeds_weights, -2.0)
    return checker


def _eyes() -> transformers.CLIPImageProcessor:
    return transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
