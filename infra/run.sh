#!/bin/sh
# Runs a program of this checkout, `sh infra/run.sh apps/cli/src/main.ts up`, under the Node that it
# needs, whatever Node is on PATH, and installs what is missing first. The program takes the place of
# this shell: signals, standard input and the exit code are its own.
node=$(node infra/bootstrap.mjs) && exec "$node" "$@"
