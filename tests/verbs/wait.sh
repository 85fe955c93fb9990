# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Waits for conditions; to be sourced. A wait ends when its condition is true. Its limit is a guard
# against hangs, long enough for a slow and busy machine under ASan. For the same reason guards by
# timeout(1) and alarm(2) in tests have 240 s or more.

# Nothing is ever written to it: read -t on it pauses without a process.
exec {never_fd}<> <(:)

patience_s=180

now_ms() { # sets now; a variable, for $( ) is a process
	local t=$EPOCHREALTIME
	now=$((${t%[.,]*} * 1000 + 10#${t#*[.,]} / 1000))
}

# within SECONDS COMMAND...: repeats the command until it succeeds; 1 when the time is over.
within() {
	local now end
	now_ms
	end=$((now + $1 * 1000))
	shift
	until "$@"; do
		now_ms
		[ "$now" -lt "$end" ] || return 1
		read -rt 0.02 -u "$never_fd" || :
	done
}

until_true() { # COMMAND...
	within $patience_s "$@"
}

is_alive() { # PID
	local stat
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
	stat=${stat##*) }
	[ "${stat%% *}" != Z ]
}

is_gone() {
	! is_alive "$1"
}
