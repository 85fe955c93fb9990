#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# extended.c on a daemon of its own, and what concerns clocks on one that sends through
# UDP. It leaves nothing open.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
run=${UHCA_SRCDIR:?}/scripts/uhca-run
program=${UHCA_BUILDDIR:?}/tests/verbs/queues/extended
"$run" --private --devices 2 -- "$program" &&
	"$run" --private --wire --devices 2 -- "$program" 'test_time*'
