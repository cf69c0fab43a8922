#!/bin/sh
# The Python package beside NumPy. Takes the build folder, which has the package.
build=$1
shift
mkdir -p "$build/bench/results"
export PYTHONPATH="$build/python"
exec /usr/bin/python3 "$(dirname "$0")/beside_numpy.py" --json "$build/bench/results/python.json" "$@"
