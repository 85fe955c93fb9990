#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# docs/reference/verbs.md has the tables that verb_table.c prints of a device, and each entry of the
# provider's table of verbs with the release that has it. A user without CAP_NET_RAW compares
# without the column of raw packets; a library without ibv_wr_flush without its row.
set -u
srcdir=$(cd "${UHCA_SRCDIR:?}" && pwd) && tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
timeout 240 "$srcdir/scripts/uhca-run" --private -- \
	"${UHCA_BUILDDIR:?}/tests/verbs/refusals/verb_table" >"$tmp/device" || exit 1
# The provider's table: the names in ops.def, with the release; in ops.c those that there are. What
# the library tells the provider is no verb: async_event, cq_event, free_context.
awk -F'[(, )]+' 'FNR == NR { if (/IS\(/) there[$2] = 1; next }
	/^UHCAV_OP/ && $2 !~ /event$|free_context/ { printf "| `%s` | %s | %s |\n", $2,
		$2 in there ? "yes" : "no", $3 == 33 ? "33 or before" : $3 }' \
	"$srcdir/provider/ops.c" "$srcdir/provider/ops.def" >"$tmp/provider"
grep -q '^| `ibv_wr_flush' "$tmp/device" || flush='/^| `ibv_wr_flush/d'
grep -q 'EPERM |$' "$tmp/device" && raw='s/[^|]*|$/ |/'

# of_users: rows of tables, as this user and this library can see them.
of_users() {
	sed -n '/^| `/p' "$@" | sed -e "${flush:-}" -e '/^| .* | .* | .* | .* | .* |/{
'"${raw:-}"'
}' | sort
}
of_users "$tmp/device" "$tmp/provider" >"$tmp/is"
of_users "$srcdir/docs/reference/verbs.md" >"$tmp/says"
[ "$(wc -l <"$tmp/is")" -gt 130 ] || {
	echo "FAIL too few rows:"
	cat "$tmp/is"
	exit 1
}
diff "$tmp/says" "$tmp/is" || {
	echo "FAIL docs/reference/verbs.md (<) is not as the device (>)"
	exit 1
}
