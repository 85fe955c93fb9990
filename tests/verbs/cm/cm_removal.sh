#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/cm/cm_removal.c on a daemon of its own, which the program kills, and on two, where it
# kills that of its peer: uhca-run says so with its status, so the program's last line counts.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
run=${UHCA_SRCDIR:?}/scripts/uhca-run
program=${UHCA_BUILDDIR:?}/tests/verbs/cm/cm_removal
block=127.3.$(($$ % 250))

says() { # LAST-LINE COMMAND...
	last=$1
	shift
	out=$("$@" 2>&1)
	echo "$out"
	case $out in
	*"$last"*) ;;
	*) exit 1 ;;
	esac
}

says "each id with a device heard of the removal, and went" "$run" --private -- "$program"
UHCA_PEER_ADDRESS=$block.1
export UHCA_PEER_ADDRESS
# Expanded by the inner shell.
# shellcheck disable=SC2016
says "the peer found that the other daemon is gone" "$run" --private --addr $block.1 -- \
	sh -c 'UHCA_PEER_DIR=$UHCA_DIR; export UHCA_PEER_DIR; exec "$@"' sh \
	"$run" --private --addr $block.2 -- "$program" peer
