#!/usr/bin/env bash
# Runs the runtime tests with other releases of torch, each in an environment of its own:
#
#     tests/torch_versions.sh 2.4.1 2.6.0 2.13.0
#
# CPU builds are taken. TORCH_SOURCE holds pip's options for where they are; set it to "" for what
# pip is configured with. Not a part of CI: every release is a download.
set -euo pipefail

if [ $# -eq 0 ]; then
    echo "usage: tests/torch_versions.sh VERSION…" >&2
    exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
options=${TORCH_SOURCE---index-url https://download.pytorch.org/whl/cpu}
python=${PYTHON:-python3}
workdir=$(mktemp -d)
trap 'rm -rf "$workdir"' EXIT

tests="tests/runtimes tests/facade tests/plugins/cuda tests/plugins/ascend tests/plugins/cambricon"
failed=()
for version in "$@"; do
    echo "== torch $version"
    venv=$workdir/$version
    "$python" -m venv "$venv"
    pip="$venv/bin/python -m pip install --quiet"
    # shellcheck disable=SC2086  # options and paths, one word each
    {
        $pip $options "torch==$version"
        $pip numpy click rich stevedore nvidia-ml-py hatchling hypothesis pytest pytest-timeout
        $pip --no-build-isolation --no-deps "$root" "$root"/plugins/*
        "$venv/bin/python" -c 'import torch; assert torch.version.cuda is None, "no CPU build"'
        (cd "$root" && "$venv/bin/python" -m pytest -q $tests) || failed+=("$version")
    }
    rm -rf "$venv"
done

if [ ${#failed[@]} -gt 0 ]; then
    echo "failed with torch ${failed[*]}" >&2
    exit 1
fi
