#!/bin/sh
set -e
cd "$(dirname "$0")/.."
docker build -t dpo:latest -f dpo/Dockerfile .
