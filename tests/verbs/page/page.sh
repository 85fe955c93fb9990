#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The page in two browsers, by real clicks and keys: of captures, and of a running device that is
# broken by a click, frozen and stepped; what was done by hand is then run as a scenario. See
# page.py.
#
#   page.sh [PART...]      parts: modules record large live, or firefox alone
set -u
root=${UHCA_SRCDIR:?}
build=${UHCA_BUILDDIR:?}
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS

for program in chromium firefox-esr python3 ibv_rc_pingpong; do
	command -v $program >/dev/null && continue
	echo "$program is missing (scripts/deps --install clients tests)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
done

folder=$(mktemp -d) || exit 1
[ -n "${UHCA_KEEP:-}" ] || trap 'rm -rf "$folder"' EXIT # else keep-failure does it

# The captures that it looks at: a lost ACK, and thousands of packets.
sed "s|^fault |capture $folder/lost-ack.pcapng\n&|" "$root/tests/scenarios/lost-ack.scn" \
	>"$folder/lost-ack.scn"
"$root/scripts/uhca-run" --scenario "$folder/lost-ack.scn" >"$folder/run" 2>&1 || {
	cat "$folder/run"
	exit 1
}
# shellcheck disable=SC2016 # for the shell inside
"$root/scripts/uhca-run" --private -- sh -c '
	"$0" capture start "$1/large.pcapng" --snap 80 || exit
	ibv_rc_pingpong -d uhca0 -g 0 -p 18613 -n 1500 >"$1/server" &
	until ibv_rc_pingpong -d uhca0 -g 0 -p 18613 -n 1500 127.0.0.1; do
		kill -0 $! || exit
	done
	wait $! || exit
	"$0" capture stop' "$build/uhcactl" "$folder" >"$folder/run" 2>&1 || {
	cat "$folder/run"
	exit 1
}
look() { # PART...
	"$root/scripts/uhca-run" --private -- \
		python3 "$root/tests/verbs/page/page.py" "$root" "$build" "$folder" "$@"
}
if [ $# -gt 0 ]; then
	look "$@"
else
	look modules record large live && look firefox
fi
