#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Completion counters, as far as the libibverbs that runs has them, inside the daemon and over UDP;
# an adapter without them says so.
# shellcheck disable=SC2086 # UHCA_LOADER is words
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
run=${UHCA_SRCDIR:?}/scripts/uhca-run
program=${UHCA_BUILDDIR:?}/tests/verbs/changes/comp_cntr
status=0
"$run" --private -- ${UHCA_LOADER:-} "$program" || status=1
"$run" --private --wire -- ${UHCA_LOADER:-} "$program" || status=1
"$run" --private --profile cx7 -- ${UHCA_LOADER:-} "$program" none || status=1
exit $status
