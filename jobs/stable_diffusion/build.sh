#!/bin/sh
set -e
cd "$(dirname "$0")/.."
docker build -t stable-diffusion:latest -f stable_diffusion/Dockerfile .
