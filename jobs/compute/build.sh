#!/bin/sh
set -e
cd "$(dirname "$0")/.."
docker build -t compute:latest -f compute/Dockerfile .
