# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# What is kept of a row that fails: a failure that comes once must be understood from what it left.
# Sourced by lib.sh.
#
# A folder for each failure, in UHCA_FAILURES (failures/ of the build by default): everything that
# the programs of the row said, log, flight recorder, counters and objects of the instances that it
# made (uhca-run --keep) and of those around it, the reason, the commands, and what the machine did.

failures=${UHCA_FAILURES:-$UHCA_BUILDDIR/failures}

# Before a row. Its private instances leave what they had where the programs' output is.
begin_evidence() {
	[ ! -e "$out/instances" ] || rm -rf "$out/instances"
	export UHCA_KEEP=$out/instances UHCA_KEEP_RAW=1
}

# What the daemon of an instance can tell now.
keep_instance() { # UHCA_DIR FOLDER
	local ctl=("$UHCA_BUILDDIR/uhcactl" --dir "$1") kind
	mkdir -p "$2"
	cp "$1/log" "$2/log" 2>/dev/null
	# One that has died says nothing, and one that hangs is asked once.
	timeout 240 "${ctl[@]}" capture dump "$2/recorder.pcapng" >"$2/recorder" 2>&1 || return
	"${ctl[@]}" counters >"$2/counters" 2>&1
	for kind in device client qp cq srq mr cm_id; do
		"${ctl[@]}" show $kind >"$2/$kind" 2>&1
	done
}

# Without what is preloaded: below a sanitizer uptime(1) has been seen to hang.
machine_now() (
	unset LD_PRELOAD
	date -Is
	uptime
	free -m
	dmesg 2>/dev/null | tail -n 40
	env | grep -E '^(UHCA|ASAN|UBSAN|TSAN)_?' | cut -c 1-300 | sort
	ps -eo pid,ppid,psr,stat,pcpu,etimes,args --sort=-pcpu | head -n 40
)

# The last crash of each of the three programs that crashed last on this machine, and where, as the
# kernel tells who may ask it: another row's may have come since.
last_crashes() {
	dmesg 2>/dev/null |
		sed -nE 's/^\[[^]]*\] (traps: )?([^ ]+\[[0-9]+\]:? .* in [^ ]+\]).*/\2/p' |
		tac | awk -F'[[]' '!seen[$1]++' | head -n 3 | paste -s -d ';'
}

# keep_evidence NAME REASON: prints the folder, or nothing when there is no room for one.
keep_evidence() {
	local folder=$failures/${1//[^A-Za-z0-9._-]/_} n=1
	while ! mkdir -p "$failures" 2>/dev/null || ! mkdir "$folder" 2>/dev/null; do
		[ -e "$folder" ] && [ $n -lt 1000 ] || return 0
		folder=${folder%%+*}+$n
		n=$((n + 1))
	done
	echo "$2" >"$folder/reason"
	machine_now >"$folder/machine" 2>&1
	[ -z "${UHCA_DIR:-}" ] || keep_instance "$UHCA_DIR" "$folder/instance"
	[ -z "${UHCA_PEER_DIR:-}" ] || keep_instance "$UHCA_PEER_DIR" "$folder/peer"
	[ ! -d "$out" ] || cp -r "$out/." "$folder/" 2>/dev/null
	"$root/tests/support/read-kept" "$folder"
	echo "$folder"
}

# from_nobody TMP COMMAND...: a run as the user nobody, who keeps evidence in TMP/failures: it is
# carried to where the others' is, and so are the names in what was said.
from_nobody() {
	local there=$1/failures status
	"${@:2}" 2>&1 | sed -u "s|$there|$failures|g"
	status=${PIPESTATUS[0]}
	if [ -d "$there" ]; then
		mkdir -p "$failures" && cp -r "$there/." "$failures/" && rm -rf "$there"
	fi
	return "$status"
}
