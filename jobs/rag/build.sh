#!/bin/sh
set -e
cd "$(dirname "$0")/.."
docker build -t rag:latest -f rag/Dockerfile .
