"""What sft, lora_sft, dpo and ppo share: language models that learn from texts, preferences and rewards.

Nothing that is imported before the job's wishes are checked imports torch.
"""
