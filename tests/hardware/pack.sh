#!/usr/bin/env bash
# Makes a folder to carry to a machine with a board and without network: wheels of accelhal, of its
# plugins and of what they need, the tests of this folder, and a README.md.
# Only pure-Python wheels: torch and numpy are the machine's own.
set -euo pipefail

if [ $# -ne 1 ] || [ -e "$1" ]; then
    echo "usage: tests/hardware/pack.sh FOLDER   (a new folder)" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "$1/wheels" "$1/tests"
folder=$(cd "$1" && pwd)

python=${PYTHON:-python3}
versions="3.10 3.11 3.12 3.13"
needs="click rich stevedore nvidia-ml-py pytest pytest-timeout"
# What pytest needs on Python 3.10 alone: pip reads such conditions for the Python that runs it.
needs="$needs exceptiongroup tomli typing-extensions"

# hatchling comes with the extra "test".
"$python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$folder/wheels" \
    "$root" "$root"/plugins/*
for version in $versions; do
    # shellcheck disable=SC2086  # one argument for each package
    "$python" -m pip download --quiet --dest "$folder/wheels" --find-links "$folder/wheels" \
        --python-version "$version" --implementation py --abi none --platform any \
        --only-binary :all: $needs
done

cp "$here"/conftest.py "$here"/test_*.py "$here"/pytest.ini "$folder/tests/"
cp "$here"/offline.md "$folder/README.md"

compiled=$(find "$folder/wheels" -type f ! -name '*-none-any.whl')
if [ -n "$compiled" ]; then
    echo "not pure Python: $compiled" >&2
    exit 1
fi
du -sh "$folder"
