#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs one test program of make check in a build with --enable-fuzzers. A fuzz target, which has
# libFuzzer's main() there, gets a bounded number of runs (FUZZ_RUNS, 20000 by default) from its
# corpus, and new inputs go to a folder that is thrown away; other programs are run as they are.
set -eu

program=$1
name=$(basename "$program")
case $name in
fuzz_*) ;;
*) exec "$@" ;;
esac
: "${UHCA_SRCDIR:?is not set}"
# To print functions it keeps a symbolizer behind pipes: targets count those as left open.
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
"$program" -runs="${FUZZ_RUNS:-20000}" -timeout=10 -print_funcs=0 -artifact_prefix="crash-$name-" \
	"$found" "$UHCA_SRCDIR/tests/fuzz/corpus/${name#fuzz_}"
