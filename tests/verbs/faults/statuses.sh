#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/faults/statuses.c on a daemon of its own, which borrows memory: it takes some away.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
exec "${UHCA_SRCDIR:?}/scripts/uhca-run" --private --devices 2 --pin off -- \
	"${UHCA_BUILDDIR:?}/tests/verbs/faults/statuses"
