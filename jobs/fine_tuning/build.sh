#!/bin/sh
set -e
cd "$(dirname "$0")/.."
docker build -t fine-tuning:latest -f fine_tuning/Dockerfile .
