#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What rows of perftest make of a table (tests/verbs/rows/perftest.sh): slow is not nothing.
set -u
out=$(mktemp -d) || exit 99
trap 'rm -rf "$out"' EXIT
# shellcheck source=tests/verbs/rows/perftest.sh
. "${UHCA_SRCDIR:?}/tests/verbs/rows/perftest.sh"
failures=0

# told COMPLAINT SIZES ITERATIONS: of the table at standard input.
told() {
	local want=$1 got
	cat >"$out/client"
	got=$(check_table "$2" "$3")
	[ "$got" = "$want" ] && return
	echo "\"$got\", not \"$want\", of: $(<"$out/client")"
	failures=$((failures + 1))
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
exit $((failures > 0))
