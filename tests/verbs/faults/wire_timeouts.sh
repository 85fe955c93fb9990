#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/faults/wire_timeouts.c over UDP.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
exec "${UHCA_SRCDIR:?}/scripts/uhca-run" --private --wire -- \
	"${UHCA_BUILDDIR:?}/tests/verbs/faults/wire_timeouts"
