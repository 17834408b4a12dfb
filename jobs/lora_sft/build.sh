#!/bin/sh
set -e
cd "$(dirname "$0")/.."
docker build -t lora-sft:latest -f lora_sft/Dockerfile .
