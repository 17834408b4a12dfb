#!/bin/sh
set -e
cd "$(dirname "$0")/.."
docker build -t mnist-training:latest -f mnist_training/Dockerfile .
