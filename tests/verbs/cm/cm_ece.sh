#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/cm/cm_ece.c with a peer whose device has the same, and with one that has less.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
run=${UHCA_SRCDIR:?}/scripts/uhca-run
program=${UHCA_BUILDDIR:?}/tests/verbs/cm/cm_ece
block=127.4.$(($$ % 250))
UHCA_PEER_ADDRESS=$block.1
export UHCA_PEER_ADDRESS
status=0
try() { # PROFILE-OF-PEER EXPECTED
	# Expanded by the inner shell.
	# shellcheck disable=SC2016
	"$run" --private --addr "$block.1" --profile "$1" -- \
		sh -c 'UHCA_PEER_DIR=$UHCA_DIR; export UHCA_PEER_DIR; exec "$@"' sh \
		"$run" --private --addr "$block.2" -- "$program" "$2" || status=1
}
try default yes
try ib-strict no
exit $status
