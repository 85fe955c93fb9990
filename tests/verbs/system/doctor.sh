#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# uhca-run doctor on this machine as it is, and on one that lacks something: what it says of the
# ways to client memory is what a daemon then does.
set -u
unset UHCA_ADOPT # it looks at the daemon that it is told of
run=${UHCA_SRCDIR:?}/scripts/uhca-run
refuse=${UHCA_BUILDDIR:?}/tests/support/refuse
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
failed=0

complain() {
	echo "doctor.sh: $*"
	cat "$tmp/said"
	failed=1
}

said() { # MARK CHECK PATTERN
	grep -qE "^$1 +$2 +.*$3" "$tmp/said" || complain "no '$1 $2 $3' in"
}

examine() { # STATUS COMMAND...
	status=$1
	shift
	"$@" >"$tmp/said" 2>&1
	[ $? = "$status" ] || complain "not $status: $*"
}

# What a daemon does under the same conditions, with messages that are worth a call, in memory that
# stays the program's.
pingpong() {
	port=$((20000 + $$ % 20000))
	# shellcheck disable=SC2016 # for the shell inside
	"$@" timeout -k 2 60 "$run" --private --adopt off --log-level info -- sh -c '
		set -- ibv_rc_pingpong -d uhca0 -g 0 -c -n 10 -s 65536 -p "$1"
		"$@" >"$0/server" 2>&1 &
		until "$@" 127.0.0.1 >"$0/client" 2>&1; do
			kill -0 $! || { cat "$0/server"; exit 1; }
		done
		wait $! && cat "$UHCA_DIR/log"' "$tmp" "$port" >"$tmp/said" 2>&1 ||
		complain "no pingpong: $*"
}

examine 0 "$run" doctor
said good programs uhcad
said good libibverbs there
grep -q 'uhca works here$' "$tmp/said" || complain "no verdict"
# A name of the command's own is no request for the doctor.
examine 127 "$run" --private -- doctor
examine 125 "$run" doctor now
examine 1 env UHCA_DAEMON=/no/such/uhcad "$run" doctor
said bad programs /no/such/uhcad
# shellcheck disable=SC2016
examine 0 sh -c 'ulimit -n 200 && exec "$0" doctor' "$run"
said note descriptors 200

# What another daemon has is no harm; only below it are there devices, and they are ours.
examine 0 "$run" --private -- "$run" doctor
said good "UDP port" .
said good "other devices" none

if unshare -rn true 2>/dev/null; then
	examine 0 unshare -rn "$run" doctor
	said note loopback "cannot be reached"
	# soft-RoCE's socket: at all addresses.
	# shellcheck disable=SC2016
	examine 1 unshare -rn python3 -c 'import socket, subprocess, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", 4791))
sys.exit(subprocess.call(sys.argv[1:]))' "$run" doctor
	said bad "UDP port" "all addresses"
fi

"$refuse" process_vm_readv -- true
case $? in
0) ;;
77)
	echo "doctor.sh: no seccomp here: refused calls are not tried"
	exit 77
	;;
*) exit 1 ;;
esac
examine 0 "$refuse" process_vm_readv userfaultfd -- "$run" doctor
said note "client memory" "process_vm_readv\(2\) is refused"
said note userfaultfd refused
said note seccomp filtered
pingpong "$refuse" process_vm_readv userfaultfd --
grep -q "process_vm is refused" "$tmp/said" || complain "the daemon was not refused anything"
examine 0 "$refuse" seccomp -- "$run" doctor
said note sandbox "Operation not permitted: the daemon works"
pingpong "$refuse" seccomp --
grep -qE "sandbox: off: (seccomp\(2\): |built with )" "$tmp/said" ||
	complain "no word of the sandbox"
examine 1 "$refuse" process_vm_readv pwrite64 -- "$run" doctor
said bad "client memory" "would not reach"
examine 1 "$refuse" memfd_create -- "$run" doctor
said bad "shared memory" memfd_create
grep -q 'uhca does not work here$' "$tmp/said" || complain "no verdict"
exit $failed
