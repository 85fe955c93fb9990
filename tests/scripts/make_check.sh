#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# "make check TESTS=..." builds the programs that scripts run only where it runs a script.
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL
failed=0

programs_for() { # MAKE-ARGUMENT...
	# shellcheck disable=SC2016 # make's own
	printf 'include Makefile\nprograms: ; @echo $(check_PROGRAMS)\n' |
		make -s -C "${UHCA_BUILDDIR:?}" -f - programs "$@"
}

expect() { # some|no MAKE-ARGUMENT...
	local programs
	programs=$(programs_for "${@:2}") || failed=1
	[ "${programs:+some}" = "${1/#no/}" ] && return
	echo "make_check.sh: make check ${*:2} would build: ${programs:-no program}"
	failed=1
}

expect some
expect some TESTS=tests/verbs/keys/memory.sh
expect some "TESTS=tests/unit/wire/test_icrc tests/verbs/keys/memory.sh"
expect no TESTS=tests/unit/wire/test_icrc
expect no "TESTS=tests/fuzz/fuzz_cmd scripts/rules/check-spdx"

[ $failed = 0 ] && echo "make_check.sh: what is not run is not built"
exit $failed
