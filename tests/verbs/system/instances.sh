#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Private instances side by side: UHCA_TIMES (60) starts, eight at a time, beside daemons that
# somebody started by hand and that come and go. All come up, with addresses of their own that their
# programs are told; those with a network of their own are always at 127.0.0.1.
set -u
root=${UHCA_SRCDIR:?}
uhca_run=$root/scripts/uhca-run
daemon=${UHCA_BUILDDIR:?}/uhcad
times=${UHCA_TIMES:-60}
[ -n "${INSTANCES_INSIDE:-}" ] ||
	INSTANCES_INSIDE=1 exec "$root/tests/support/own-network" bash "$0" "$@"

# shellcheck source=tests/verbs/wait.sh
. "$root/tests/verbs/wait.sh"
out=$(mktemp -d)
foreign=()
trap 'kill "${foreign[@]}" 2>/dev/null; wait; rm -rf "$out"' EXIT
failed=0
complain() {
	echo "instances.sh: $*"
	failed=1
}

by_hand() { # NAME ADDRESS...: a daemon that no uhca-run started
	local words=() address
	for address in "${@:2}"; do words+=(--addr "$address"); done
	"$daemon" --dir "$out/$1" "${words[@]}" >"$out/$1.said" 2>&1 &
	foreign+=($!)
}
serves() { # NAME
	until_true test -S "$out/$1/ctl" ||
		complain "the daemon $1 does not come up:" \
			"$(cat "$out/$1/log" "$out/$1.said" 2>/dev/null)"
}
# Somebody else is about to give 127.0.5.1 and so on away: they are left to him.
python3 -c 'import os, socket, sys
s = [socket.socket(socket.AF_UNIX) for _ in range(12)]
for i in range(12): s[i].bind("\0uhca/addresses/127.0.%d" % i)
open(sys.argv[1], "w").write("ready")
sys.stdin.read()' "$out/reserved" < <(exec sleep 100) &
reserving=$!
until_true test -s "$out/reserved"
# shellcheck disable=SC2016 # of the inner shell
got=$("$uhca_run" --private -- sh -c 'echo "$UHCA_ADDR_0"' 2>&1)
[ "$got" = 127.0.12.1 ] || complain "addresses that another start has reserved: $got"
kill $reserving

# A daemon by hand is there first, five times: between the look and the daemon's start.
cat >"$out/slow" <<-'END'
	#!/usr/bin/env bash
	. "$UHCA_SRCDIR/tests/verbs/wait.sh"
	n=$(($(cat "$TAKEN/n") + 1))
	echo $n >"$TAKEN/n"
	words="$* --addr 127.0.0.1"
	words=${words#*--addr } address=${words%% *}
	[ $n -gt 5 ] || {
		"$REAL" --dir "$TAKEN/$n" --addr "$address" </dev/null >/dev/null 2>&1 3>&- &
		echo $! >>"$TAKEN/pids"
		until_true test -S "$TAKEN/$n/ctl"
	}
	exec "$REAL" "$@"
END
chmod +x "$out/slow"
mkdir "$out/taken" && echo 0 >"$out/taken/n"
# shellcheck disable=SC2016 # of the inner shell
got=$(TAKEN=$out/taken REAL=$daemon UHCA_DAEMON=$out/slow "$uhca_run" --private -- sh -c '
	echo "$UHCA_ADDR_0"; grep -c taken "$UHCA_DIR/log"' 2>&1 | xargs)
[ "$got" = "127.0.5.1 0" ] || complain "others came first, five times: $got"
xargs kill <"$out/taken/pids"
while read -r pid; do # their addresses are free when they have ended
	until_true is_gone "$pid"
done <"$out/taken/pids"

# Another is there first, and gone again when uhca-run could look.
cat >"$out/brief" <<-'END'
	#!/usr/bin/env bash
	. "$UHCA_SRCDIR/tests/verbs/wait.sh"
	[ ! -e "$TAKEN/brief" ] || exec "$REAL" "$@"
	"$REAL" --dir "$TAKEN/brief" --addr 127.0.0.1 </dev/null >/dev/null 2>&1 3>&- &
	until_true test -S "$TAKEN/brief/ctl"
	"$REAL" "$@"
	status=$?
	kill $! && wait $!
	exit $status
END
chmod +x "$out/brief"
# shellcheck disable=SC2016 # of the inner shell
got=$(TAKEN=$out/taken REAL=$daemon UHCA_DAEMON=$out/brief "$uhca_run" --private -- \
	sh -c 'echo "$UHCA_ADDR_0"' 2>&1)
[ "$got" = 127.0.1.1 ] || complain "another came first, and went: $got"

by_hand first 127.0.0.1,::1
by_hand second 127.0.0.2 127.0.1.2
by_hand third 127.0.3.1
serves first
serves second
serves third
# One behind the other where instances look for addresses, each for a moment.
(
	for ((i = 0; ; i = (i + 1) % 8)); do
		timeout 0.2 "$daemon" --dir "$out/passing" --addr "127.0.$((4 + i)).1"
	done
) >/dev/null 2>&1 &
foreign+=($!)

# What a start says of its addresses goes to a file of its own.
# shellcheck disable=SC2016 # of the inner shells
start() { # N OPTION...
	"$uhca_run" --private --devices 2 "${@:2}" -- sh -c '
		[ "$(cat "$UHCA_DIR"/sys/class/infiniband/uhca*/ports/1/state | wc -l)" = 2 ] &&
			echo "$UHCA_ADDR_0 $UHCA_ADDR_1" >"$1"
		' sh "$out/addresses.$1" >"$out/said.$1" 2>&1 ||
		{ echo "status $?" && cat "$out/said.$1"; } >"$out/failure.$1"
}

for ((i = 0; i < times; i++)); do
	start "$i" &
	jobs[i % 8]=$!
	[ "$i" -lt 7 ] || wait "${jobs[(i + 1) % 8]}"
done
for i in "${jobs[@]}"; do wait "$i"; done
came=$(cat "$out"/addresses.* | wc -l)
[ "$came" = "$times" ] || complain "$came of $times starts came up: $(head -n 2 "$out"/failure.* |
	head -n 8)"
! grep -hE '^127\.0\.(0|1|3)\.[12]( |$)| 127\.0\.(0|1|3)\.' "$out"/addresses.* ||
	complain "addresses of others were given away"
[ -z "$(cat "$out"/said.*)" ] || complain "it is not silent: $(cat "$out"/said.* | head -n 3)"
rm -f "$out"/addresses.* "$out"/said.*

if unshare -n true 2>/dev/null || unshare -Urn true 2>/dev/null; then
	for ((i = 0; i < times / 5; i++)); do
		start "$i" --own-network &
		jobs[i % 8]=$!
		[ "$i" -lt 7 ] || wait "${jobs[(i + 1) % 8]}"
	done
	for i in "${jobs[@]}"; do wait "$i"; done
	[ "$(sort "$out"/addresses.* | uniq -c | xargs)" = "$((times / 5)) 127.0.0.1 127.0.0.2" ] ||
		complain "networks of their own: $(sort "$out"/addresses.* | uniq -c | head -n 3)" \
			"$(cat "$out"/failure.* "$out"/said.* 2>/dev/null | head -n 3)"
fi

# Where none can be made that is said, with what helps, and it goes on in the network that is there.
# shellcheck disable=SC2016 # of the inner shells
if unshare -Urn sh -c 'echo 0 >/proc/sys/user/max_net_namespaces' 2>/dev/null; then
	unshare -Urn sh -c 'PATH=$PATH:/usr/sbin:/sbin; ip link set lo up
		echo 0 >/proc/sys/user/max_net_namespaces
		"$@"' sh "$uhca_run" --private --own-network -- sh -c 'echo "at $UHCA_ADDR_0"' \
		>"$out/said" 2>&1 || complain "no network of its own: it ends with $?"
	told='^at 127.0.0.1$|^uhca-run: --own-network: .* As root: sysctl'
	[ "$(grep -cE "$told" "$out/said")" = 2 ] ||
		complain "no network of its own: $(cat "$out/said")"
fi
exit $failed
