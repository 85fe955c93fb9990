#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Words that people mistype, of whatever program: each is named, with the nearest and with what is
# allowed, and the status is that of a mistake.
#
#   words.sh [WORD]      only lines of the table that hold the word
set -u
root=${UHCA_SRCDIR:?}
uhca_run=$root/scripts/uhca-run
: "${UHCA_BUILDDIR:?}"
only=${1:-}

if [ -z "${WORDS_INSIDE:-}" ]; then
	WORDS_INSIDE=1 exec "$uhca_run" --private --devices 2 -- bash "$0" "$@"
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0 tried=0
own_mounts=(unshare -m)
"${own_mounts[@]}" true 2>/dev/null || own_mounts=(unshare -rm)
"${own_mounts[@]}" true 2>/dev/null || own_mounts=()
run_of() { # NAME ARGUMENT...
	case $1 in
	uhca-run) "$uhca_run" "${@:2}" ;;
	uhcactl) "$UHCA_BUILDDIR/uhcactl" "${@:2}" ;;
	uhcad) "$UHCA_BUILDDIR/uhcad" "${@:2}" ;;
	env) "$@" ;;
	full) "${@:2}" >/dev/full ;;
	in_full_folder)
		# shellcheck disable=SC2016 # for the shell inside
		"${own_mounts[@]}" sh -c 'mount -t tmpfs -o size=16k none /mnt
			cat /dev/zero >/mnt/fill; TMPDIR=/mnt exec "$@"' sh "${@:2}"
		;;
	lab | ci) "$root/scripts/$1" "${@:2}" ;;
	scenario) "$uhca_run" --scenario "$out/case.scn" ;;
	suppress) "$uhca_run" --sanitize --suppress "$out/file" -- true ;;
	esac
}

# An instance whose daemon was killed: its socket is still there.
mkdir "$out/left"
python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).bind(sys.argv[1])' "$out/left/sock"

while IFS='|' read -r status line said1 said2 said3; do
	case $status in '#'* | '') continue ;; esac
	[[ $line = *"$only"* ]] || continue
	# what stands between bars has blanks around it
	read -r status <<<"$status"
	read -r line <<<"$line"
	words=()
	eval "words=($line)"
	case ${words[0]} in
	in_full_folder) [ ${#own_mounts[@]} -gt 0 ] || continue ;;
	scenario)
		printf '%s\n' 'fault lost: drop opcode=cnp' 'run a: true' "${words[1]}" \
			>"$out/case.scn"
		;;
	suppress) echo "${words[1]}" >"$out/file" ;;
	esac
	tried=$((tried + 1))
	run_of "${words[@]}" >"$out/said" 2>&1 </dev/null
	got=$?
	[ "$got" = "$status" ] || {
		echo "words.sh: $line: status $got, not $status: $(head -n 1 "$out/said")"
		failed=1
	}
	for part in "$said1" "$said2" "$said3"; do
		part=${part#"${part%%[! ]*}"} part=${part%"${part##*[! ]}"}
		grep -qF -e "$part" "$out/said" || {
			echo "words.sh: $line: not said '$part': $(head -n 2 "$out/said")"
			failed=1
		}
	done
done <"$root/tests/verbs/system/words.txt"
echo "words.sh: $tried words"
[ -n "$only" ] || [ "$tried" -gt 70 ] || failed=1
exit $failed
