#!/bin/sh
set -e
cd "$(dirname "$0")/.."
docker build -t ppo:latest -f ppo/Dockerfile .
