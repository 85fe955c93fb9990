#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What rows make of what a program prints. Of perftest's tables (tests/verbs/rows/perftest.sh): slow
# is not nothing. Of the pingpong examples: both sides report all of it.
set -u
out=$(mktemp -d) || exit 99
trap 'rm -rf "$out"' EXIT
# shellcheck source=tests/verbs/rows/perftest.sh
. "${UHCA_SRCDIR:?}/tests/verbs/rows/perftest.sh"
# shellcheck source=tests/verbs/rows/pingpong.sh
. "${UHCA_SRCDIR:?}/tests/verbs/rows/pingpong.sh"
failures=0

# says COMPLAINT COMMAND...
says() {
	local want=$1 got
	got=$("${@:2}")
	[ "$got" = "$want" ] && return
	echo "\"$got\", not \"$want\", of: $(cat "$out/client")"
	failures=$((failures + 1))
}

# told COMPLAINT SIZES ITERATIONS: of the table at standard input.
told() {
	cat >"$out/client"
	says "$1" check_table "$2" "$3"
}

# A rate of less than one message in two seconds, a bandwidth of less than 5 kB/s: both are rounded.
told "" 2,8388608 20 <<END
 2 20 0.00 0.00 0.000917
 8388608 20 3.91 3.36 0.000000
END
told "size 4096: nothing measured" 4096 20 <<END
 4096 20 0.00 0.00 0.000000
END
told "the table has 1 lines, not 2" 2,4 20 <<END
 2 20 0.00 0.00 0.000917
END
told "line 1 is for size 4" 2 20 <<END
 4 20 0.00 0.00 0.000917
END
told "19 iterations, not 20" 2 20 <<END
 2 19 0.00 0.00 0.000917
END
told "" 8 300 <<END
 8 300 73.80 4210.11 91.17 110.36 101.02 903.13 4210.11
END
told "size 8: nothing measured" 8 300 <<END
 8 300 0.00 0.00 0.00 0.00 0.00 0.00 0.00
END

bytes="163840 bytes in 0.01 seconds = 140.01 Mbit/sec"
iters="20 iters in 0.01 seconds = 468.10 usec/iter"
printf '%s\n' "  local address: LID 0x0001" "$bytes" "$iters" | tee "$out/server" >"$out/client"
says "" check_pingpong 4096 20
says "server does not report 16384 bytes" check_pingpong 4096 2
says "server does not report 40 iterations" check_pingpong 2048 40
printf '%s\n' "$bytes" "1$iters" >"$out/client"
says "client does not report 20 iterations" check_pingpong 4096 20
printf '%s\n' "1$bytes" "$iters" >"$out/client"
says "client does not report 163840 bytes" check_pingpong 4096 20
: >"$out/client"
says "client does not report 163840 bytes" check_pingpong 4096 20
rm "$out/client"
says "client does not report 163840 bytes" check_pingpong 4096 20 2>/dev/null
exit $((failures > 0))
