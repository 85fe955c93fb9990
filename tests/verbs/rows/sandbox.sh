# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of the daemon's sandbox: what it has laid down, and that it missed nothing of it.

# What the kernel says of a daemon, and what that says of itself: in the sandbox unless told
# otherwise, or unless it was built with what has no place in it.
daemon_says() { # UHCA-RUN-OPTION...
	# shellcheck disable=SC2016 # for the shell inside
	expect_status 0 "$uhca_run" --private "$@" -- sh -c '
		grep -E "^(Seccomp|NoNewPrivs|CapEff):" "/proc/$(cat "$UHCA_DIR/pid")/status"
		grep sandbox: "$UHCA_DIR/log"
		"$1" --json show device' sh "$UHCA_BUILDDIR/uhcactl"
}

sandbox() {
	local before
	before=$(sed -n 's/^Seccomp:\s*//p' /proc/self/status)
	daemon_says
	if grep -q 'sandbox: off: built with' "$out/said"; then
		expect_said "^Seccomp:\s$before$"
	else
		expect_said '^Seccomp:\s2$'
		expect_said '^NoNewPrivs:\s1$'
		# SYS_PTRACE, NET_ADMIN and DAC_OVERRIDE at the most
		expect_said '^CapEff:\s0{11}[08][01]00[02]$'
		expect_said 'sandbox: on$'
		expect_said '"sandbox": "on"'
	fi
	daemon_says --no-sandbox
	expect_said "^Seccomp:\s$before$"
	expect_said 'sandbox: off: --no-sandbox$'
	expect_said '"sandbox": "off: --no-sandbox"'
}

rows_sandbox() {
	try wrapper sandbox sandbox
}

# The last row of an instance: of all that its rows made the daemon do nothing was refused.
nothing_refused() {
	grep -h 'sandbox: .* is refused' "$@"
}

row_refused() {
	local logs=("$UHCA_DIR/log")
	[ -z "${UHCA_PEER_DIR:-}" ] || logs+=("$UHCA_PEER_DIR/log")
	try sandbox nothing-refused nothing_refused "${logs[@]}"
}
