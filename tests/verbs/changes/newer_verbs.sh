#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What newer libibverbs ask, as far as the one that runs has it; with the speed of every day, and
# with one that has no bit in active_speed.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
run=${UHCA_SRCDIR:?}/scripts/uhca-run
program=${UHCA_BUILDDIR:?}/tests/verbs/changes/newer_verbs
status=0
"$run" --private -- "$program" || status=1
"$run" --private --fault 'port.speed=800gbit' -- "$program" 8000 || status=1
exit $status
