#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The examples of tests/examples between processes, on one device and between two.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
run=${UHCA_SRCDIR:?}/scripts/uhca-run
programs=${UHCA_BUILDDIR:?}/tests/examples
status=0
for name in halo_exchange header_payload storage_target lock_free_table; do
	"$run" --private -- "$programs/$name" || status=1
	"$run" --private --wire --devices 2 -- "$programs/$name" --peer-device uhca1 || status=1
	# What it does not understand is said, and help is help.
	"$programs/$name" --help | grep -q -e --rounds || status=1
	"$programs/$name" --rounds 0 2>/dev/null
	[ $? = 2 ] || status=1
done

# The last acknowledgement of either end gets lost: who has it sent waits until the other has one.
last=
for psn in 195 249; do
	last="$last --fault 'drop opcode=rc.ack psn=$psn times=1'"
done
said=$(eval "\"$run\" --private --wire $last -- \"$programs/header_payload\" --rounds 2" 2>&1) ||
	status=1
[ "$(echo "$said" | grep -c 'fired 1 time, of 1 that matched')" = 2 ] || {
	echo "the last acknowledgements have other numbers: $said"
	status=1
}

# The same program, and what devices of two profiles answer to it.
differs() { # PROFILE OPTION...; the expected lines on standard input
	expected=$(cat)
	profile=$1
	shift
	said=$("$run" --private --profile "$profile" "$@" -- "$programs/read_with_inv") || status=1
	[ "$said" = "$expected" ] || {
		echo "profile $profile says: $said"
		status=1
	}
}
ask_default() { # OPTION...
	differs default "$@" <<-END
	seed 1
	profile default
	READ, region without remote write: allowed: verified
	READ, region with remote write: allowed: verified
	READ with invalidate, key without remote write: allowed: verified
	READ into two elements: allowed: verified
	READ with invalidate, key with remote write: allowed: verified
	dead for the peer: verified
	READ with invalidate, dead key: refused, local protection error: verified
	READ with invalidate, registered again: allowed: verified
	another key byte: allowed: verified
	interleaved layout: allowed: verified
	composite: allowed: verified
	masked atomics: allowed: verified
	masked atomic without the right: refused, remote access error: verified
	END
}
ask_iwarp() { # OPTION...
	differs iwarp-like "$@" <<-END
	seed 1
	profile iwarp-like
	READ, region without remote write: refused, local protection error: verified
	READ, region with remote write: allowed: verified
	READ with invalidate, key without remote write: refused, local protection error: verified
	READ into two elements: refused, local QP operation error: verified
	READ with invalidate, key with remote write: allowed: verified
	dead for the peer: verified
	READ with invalidate, dead key: refused, local protection error: verified
	READ with invalidate, registered again: allowed: verified
	another key byte: refused, memory management operation error: verified
	interleaved layout: refused, Operation not supported: verified
	composite: refused, Operation not supported: verified
	masked atomics: refused, Operation not supported: verified
	END
}
ask_default
ask_default --wire
ask_iwarp
ask_iwarp --wire
exit $status
