#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/queues/objects.c on a daemon of its own. It leaves objects open on purpose.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
exec "${UHCA_SRCDIR:?}/scripts/uhca-run" --private --devices 2 -- \
	"${UHCA_BUILDDIR:?}/tests/verbs/queues/objects"
