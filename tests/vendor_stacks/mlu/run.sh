#!/usr/bin/env bash
# accelhal's suite on the stand-in: tests/vendor_stacks/mlu/run.sh [options of accelhal conformance]
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
neuware=$(mktemp -d)
trap 'rm -rf "$neuware"' EXIT
torch=$(python -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])')
# Any library that loads will do: nothing in it is called.
ln -s "$torch/lib/libc10.so" "$neuware/libcnrt.so"
export PYTHONPATH="$folder" LD_LIBRARY_PATH="$neuware"
python -m accelhal conformance mlu "$@"
