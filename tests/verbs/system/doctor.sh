#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# uhca-run doctor on this machine as it is, and on one that lacks something: what it says of the
# ways to client memory is what a daemon then does.
set -u
unset UHCA_PIN # it looks at the daemon that it is told of
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
	"$@" timeout -k 2 240 "$run" --private --pin off --log-level info -- sh -c '
		set -- ibv_rc_pingpong -d uhca0 -g 0 -c -n 10 -s 65536 -p "$1"
		"$@" >"$0/server" 2>&1 &
		until "$@" 127.0.0.1 >"$0/client" 2>&1; do
			kill -0 $! || { cat "$0/server"; exit 1; }
		done
		wait $! || exit
		# A thread of the daemon writes it.
		for i in $(seq 100); do
			[ "$(grep -c "has left" "$UHCA_DIR/log")" -lt 2 ] || break
			sleep 0.1
		done
		cat "$UHCA_DIR/log"' "$tmp" "$port" >"$tmp/said" 2>&1 ||
		complain "no pingpong: $*"
}

examine 0 "$run" doctor
said good programs uhcad
said good libibverbs installed
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

# What lacks in a mount namespace of its own the doctor says, and it fails with what, why, remedy.
# shellcheck disable=SC2317 # called by examine
lacking() { # MOUNTS COMMAND...
	mounts=$1
	shift
	# shellcheck disable=SC2016 # of the inner shell
	timeout 240 unshare -rm sh -c 'mount --make-rprivate / && eval "$1" && shift && exec "$@"' \
		sh "$mounts" "$@"
}
if unshare -rm true 2>/dev/null; then
	mkdir "$tmp/folder"
	read_only="mount -t tmpfs none '$tmp/folder' && mount -o remount,ro '$tmp/folder'"
	export TMPDIR="$tmp/folder" XDG_RUNTIME_DIR=
	examine 1 lacking "$read_only" "$run" doctor
	said bad folder "cannot create an instance in .*/folder: Read-only file system"
	scenario=$UHCA_SRCDIR/tests/scenarios/lost-ack.scn
	for how in --private "--scenario $scenario" "--private --sanitize" "--instance x"; do
		# shellcheck disable=SC2086 # several words
		examine 125 lacking "$read_only" "$run" $how -- true
		grep -q 'Read-only file system$' "$tmp/said" || complain "$how: not said why"
		grep -q 'set XDG_RUNTIME_DIR or TMPDIR' "$tmp/said" || complain "$how: no remedy"
	done
	unset TMPDIR XDG_RUNTIME_DIR
	no_proc='mount -t tmpfs none /proc'
	examine 1 lacking "$no_proc" "$run" doctor
	said bad proc "/proc/self/mem: No such file or directory: the device cannot access"
	examine 0 lacking "$no_proc" "$UHCA_BUILDDIR/uhcactl" --version
	examine 1 lacking "$no_proc" "$UHCA_BUILDDIR/uhcactl" doctor
	said bad proc "refuses programs"
	examine 1 lacking "$no_proc" "$run" --private -- ibv_rc_pingpong -g 0
	grep -q 'proc(5) must be mounted' "$tmp/said" || complain "no /proc: not said what helps"
fi

if unshare -rn true 2>/dev/null; then
	examine 0 unshare -rn "$run" doctor
	said note loopback "is unreachable"
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
examine 0 "$refuse" process_vm_readv userfaultfd perf_event_open -- "$run" doctor
said note breakpoints "perf_event_open\(2\): .*: the sanitizer's check wc-unset"
said note "client memory" "process_vm_readv\(2\) is refused"
said note userfaultfd refused
said note seccomp filtered
pingpong "$refuse" process_vm_readv userfaultfd --
grep -q "process_vm_readv(2) is refused" "$tmp/said" ||
	complain "the daemon was not refused anything"
examine 0 "$refuse" seccomp -- "$run" doctor
said note sandbox "Operation not permitted: the daemon works"
pingpong "$refuse" seccomp --
grep -qE "sandbox: off: (seccomp\(2\): |built with )" "$tmp/said" ||
	complain "no word of the sandbox"
examine 1 "$refuse" process_vm_readv pwrite64 -- "$run" doctor
said bad "client memory" "cannot access programs"
examine 1 "$refuse" memfd_create -- "$run" doctor
said bad "shared memory" memfd_create
grep -q 'uhca does not work here$' "$tmp/said" || complain "no verdict"
examine 125 "$refuse" memfd_create -- "$run" --private -- true
grep -q 'memfd_create(2): Operation not permitted: .*a seccomp profile that allows' "$tmp/said" ||
	complain "memfd_create: not said what fails, why, and what helps"
exit $failed
