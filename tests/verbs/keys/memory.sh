#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/keys/memory.c and sharing.c, each on a daemon of its own.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
run=${UHCA_SRCDIR:?}/scripts/uhca-run
programs=${UHCA_BUILDDIR:?}/tests/verbs/keys
"$run" --private -- "$programs/memory" &&
	"$run" --private --devices 2 -- "$programs/sharing"
