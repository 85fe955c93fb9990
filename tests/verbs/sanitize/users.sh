#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Two users of one daemon, which is not root's: the client is root's, the server that user's. A
# failed request of the client is told with the facts of its own end alone. Where both ends are
# root's, the same mistake has its name. Only root can be both.
set -u
run=${UHCA_SRCDIR:?}/scripts/uhca-run
program=${UHCA_BUILDDIR:?}/tests/verbs/sanitize/across/write-past-end
user=12345 # not 65534, which may be anybody in a user namespace
become=(setpriv "--reuid=$user" "--regid=$user" --clear-groups)
failed=0

skip() {
	echo "skipped: $*"
	exit 77
}

complain() {
	echo "$*"
	failed=1
}

[ "$(id -u)" = 0 ] || skip "only root can become another user"
"${become[@]}" test -r "$program" || skip "user $user cannot read $program"
out=$(mktemp -d) || exit 1
trap 'eval "exec ${daemon[1]:-9}>&-"; wait; rm -rf "$out"' EXIT
chmod 755 "$out"
install -d -o $user "$out/tmp"

coproc daemon {
	# shellcheck disable=SC2016 # of the inner shell
	exec "${become[@]}" env -u UHCA_KEEP TMPDIR="$out/tmp" HOME="$out/tmp" "$run" --private -- \
		sh -c 'echo "$UHCA_DIR"; exec cat' 2>"$out/log"
}
read -r -t 20 UHCA_DIR <&"${daemon[0]}" || {
	cat "$out/log"
	exit 1
}
export UHCA_DIR

# sanitized SERVER'S-USER: what the sanitizer says is in $out/said.
sanitized() {
	FAR_SERVER_USER=$1 timeout -k 2 240 "$run" --sanitize=all --sanitize-options \
		"text=$out/said" -- "$program" >"$out/own" 2>&1
}

sanitized 0
grep -q 'ERROR: uhca-sanitizer: rkey-range: ' "$out/said" ||
	complain "of one user: $(cat "$out/own" "$out/said")"
grep -q 'peer: QP 0x.* (process ' "$out/said" || complain "no peer: $(cat "$out/said")"
sanitized $user
grep -q 'NOTE: uhca-sanitizer: completion-failed: ' "$out/said" ||
	complain "of two users: $(cat "$out/own" "$out/said")"
! grep -qE 'rkey-range|peer: QP|registered by|misses' "$out/said" ||
	complain "of two users, something of the other's is told: $(cat "$out/said")"
exit $failed
