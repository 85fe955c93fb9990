#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What newer libibverbs ask, as far as the one that runs has it; with the speed of every day, and
# with one that has no bit in active_speed.
# shellcheck disable=SC2086 # UHCA_LOADER is words
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
run=${UHCA_SRCDIR:?}/scripts/uhca-run
program=${UHCA_BUILDDIR:?}/tests/verbs/changes/newer_verbs
status=0
"$run" --private -- ${UHCA_LOADER:-} "$program" || status=1
"$run" --private --fault 'port.speed=800gbit' -- ${UHCA_LOADER:-} "$program" 8000 || status=1
exit $status
