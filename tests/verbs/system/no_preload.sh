#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The mode without a preload library, libuhca(7): in a /dev of our own with /dev/infiniband in it,
# stock programs find the device by variables alone, and the provider redirects the calls of
# libibverbs and librdmacm. Whoever runs it is root of a user namespace; root is so besides in
# a mount namespace alone, as in a container, and has nobody do it.
#
#   no_preload.sh               all of it
#   no_preload.sh inside DIR    what runs in the namespace
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=tests/verbs/lib.sh
. "$here/lib.sh"
: "${UHCA_BUILDDIR:?}" # here, not in a subshell: the script ends
provider=$(find "$UHCA_BUILDDIR" -name libuhca-rdmav34.so -path '*/.libs/*' | head -n 1)
export TMPDIR=${TMPDIR:-/tmp} # instances are in /dev/shm else, which another /dev hides
in_userns=(unshare --user --map-root-user --mount)

cannot() {
	echo "no_preload: $*"
	[ "${CI:-}" = true ] && exit 1
	exit 77
}

# Device nodes cannot be made in a user namespace: those that are needed are the old ones.
# Not sticky as mount would have it: there O_CREAT of a file of another owner is refused, /dev/null
# too (fs.protected_regular).
make_dev() {
	local dev=$1/own-dev name
	mkdir "$dev" && mount -t tmpfs -o mode=755 none "$dev" &&
		mkdir -m 1777 "$dev/shm" && mkdir "$dev/infiniband" || return 1
	for name in null zero random urandom; do
		: >"$dev/$name" && mount --bind "/dev/$name" "$dev/$name" || return 1
	done
	ln -s /proc/self/fd "$dev/fd"
	ln -s /dev/null "$dev/infiniband/uverbs200"
	mount --rbind "$dev" /dev
}

# rows WORD...: those of clients; all must be ok, and the device must have had work.
rows() {
	local before
	before=$(carried)
	"$here/clients" --inside internal -- "$@" >"$out/rows" || status=1
	cat "$out/rows"
	grep -q '^ok ' "$out/rows" || status=1
	[ "$1" = device ] || [ "$(carried)" -gt "$before" ] || {
		echo "FAIL internal $*: the device carried nothing"
		status=1
	}
}

server_maps_preload() {
	local child
	child_of "$server_pid"
	grep -q libuhca_preload.so "/proc/$child/maps" 2>/dev/null
}

# What a program of librdmacm has: no variable, and our library all the same.
nothing_preloaded() {
	local child
	start_server rping -s -a 127.0.0.1 -p "$port"
	: >"$out/client"
	if ! until_true server_maps_preload || ! child_of "$server_pid" ||
		grep -qz '^LD_PRELOAD=' "/proc/$child/environ"; then
		echo "FAIL internal rdmacm not-preloaded: $(last_words)"
		status=1
	else
		echo "ok   internal rdmacm not-preloaded"
	fi
	stop_server
	wait "$server_pid" 2>/dev/null
}

# said PATTERN COMMAND...: it fails, and says why.
said() {
	timeout -k 2 240 "${@:2}" >"$out/client" 2>&1 </dev/null
	local ended=$?
	if [ $ended != 0 ] && [ $ended -lt 124 ] && grep -qE "$1" "$out/client"; then
		echo "ok   internal no_preload says: $1"
	else
		echo "FAIL internal no_preload '$1': ended with $ended: $(last_words)"
		status=1
	fi
}

# A provider without its library, an instance that is not there, a daemon that has gone.
failures() {
	local alone=$out/alone pid
	mkdir "$alone" && cp "${provider%34.so}"*.so "$alone/" || status=1
	said "rdma_cm are not available: .*libuhca_preload.so: cannot open" \
		env RDMAV_DRIVERS="$alone/libuhca" rping -s -a 127.0.0.1 -p "$port"
	said "rdma_cm are not available: UHCA_DIR" env -u UHCA_DIR rping -s -a 127.0.0.1 -p "$port"
	said "No RDMA devices" env UHCA_DIR=/nonexistent rping -s -a 127.0.0.1 -p "$port"
	pid=$(cat "$UHCA_DIR/pid")
	kill -9 "$pid"
	until_true is_gone "$pid"
	said "No RDMA devices" rping -s -a 127.0.0.1 -p "$port"
}

inside() { # DIR
	make_dev "$1" || exit 1
	export UHCA_DIR=$1 SYSFS_PATH=$1/sys RDMAV_DRIVERS=${provider%-rdmav34.so}
	unset UHCA_PRELOAD
	[ -z "${LD_PRELOAD+set}" ] || { echo "FAIL internal: LD_PRELOAD is set" && exit 1; }
	out=$(mktemp -d) || exit 1
	trap 'rm -rf "$out"' EXIT
	status=0
	rows device ibv_devinfo
	rows pingpong rc-check
	rows pingpong rc-events
	rows pingpong ud-check
	rows perftest write_bw-RC
	nothing_preloaded
	for name in rping ucmatose udaddy rstream rdma_client send_bw-R mckey-sendonly; do
		rows rdmacm "$name"
	done
	[ -n "${no_more:-}" ] || {
		rows ucx sockaddr
		rows ucx rdmacm-rc-tag
		rows fabric fi-msg-all
	}
	failures
	exit $status
}

# An instance, and in it, in the namespaces that the command makes, "inside". "become" comes before.
launch() { # HOW UHCA-RUN NO_PRELOAD.SH COMMAND...
	local how=$1 before
	before=$(grep -c '^ok ' "$log")
	# shellcheck disable=SC2016 # for the inner shell
	"${become[@]}" "$2" --private -- sh -c 'exec env -u LD_PRELOAD "$@" inside "$UHCA_DIR"' \
		sh "${@:4}" "$3" 2>&1 |
		sed "s/^\(ok  \|FAIL\) internal/\1 $how/" | tee -a "$log"
	[ "$(($(grep -c '^ok ' "$log") - before))" -ge 20 ] || echo "FAIL $how: rows are missing" |
		tee -a "$log"
}

launch_root() {
	become=(env no_more=1)
	launch root "$root/scripts/uhca-run" "$here/system/no_preload.sh" unshare --mount
}

launch_user() {
	become=(env)
	launch userns "$root/scripts/uhca-run" "$here/system/no_preload.sh" "${in_userns[@]}"
}

launch_nobody() {
	local tree tmp
	tree=$(mktemp -d) && tmp=$(mktemp -d) && chown nobody "$tmp" && copy_tree "$tree" || exit 1
	become=(from_nobody "$tmp" runuser -u nobody -- env -u XDG_RUNTIME_DIR TMPDIR="$tmp"
		HOME="$tmp" UHCA_FAILURES="$tmp/failures" UHCA_KEEP=
		CCACHE_DISABLE=1 UHCA_BUILDDIR="$tree/build" no_more=1)
	launch nobody "$tree/scripts/uhca-run" "$tree/tests/verbs/system/no_preload.sh" \
		"${in_userns[@]}"
	rm -rf "$tree" "$tmp"
}

[ "${1:-}" != inside ] || inside "$2"

for name in ibv_rc_pingpong ib_write_bw rping ucx_perftest fi_pingpong; do
	command -v "$name" >/dev/null || cannot "$name is missing"
done
complaint=$("${in_userns[@]}" mount -t tmpfs none /mnt 2>&1) ||
	cannot "no user namespace with mounts of its own: $complaint"
[ ! -d /sys/class/infiniband ] || cannot "the kernel has RDMA devices, and libibverbs asks it first"
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
launch_user
if [ "$(id -u)" = 0 ]; then
	! unshare --mount true 2>/dev/null || launch_root
	launch_nobody
fi
! grep -q '^FAIL' "$log"
