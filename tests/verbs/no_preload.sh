#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The mode without a preload library, libuhca(7): in a /dev of our own with /dev/infiniband in it,
# stock programs find the device by variables alone, and the provider redirects libibverbs' ioctl
# calls. "no_preload.sh inside DIR" is what runs there.
set -u
clients=$(cd "$(dirname "$0")" && pwd)/clients
provider=$(find "${UHCA_BUILDDIR:?}" -name libuhca-rdmav34.so -path '*/.libs/*' | head -n 1)

cannot() {
	echo "no_preload: $*"
	[ "${CI:-}" = true ] && exit 1
	exit 77
}

# Device nodes cannot be made in a user namespace: those that are needed are the old ones.
make_dev() {
	local dev=$1/own-dev name
	mkdir "$dev" && mount -t tmpfs none "$dev" && mkdir "$dev/infiniband" "$dev/shm" || return 1
	for name in null zero urandom; do
		: >"$dev/$name" && mount --bind "/dev/$name" "$dev/$name" || return 1
	done
	ln -s /proc/self/fd "$dev/fd"
	ln -s /dev/null "$dev/infiniband/uverbs200"
	mount --rbind "$dev" /dev
}

if [ "${1:-}" = inside ]; then
	make_dev "$2" || exit 1
	export UHCA_DIR=$2 SYSFS_PATH=$2/sys RDMAV_DRIVERS=${provider%-rdmav34.so}
	unset LD_PRELOAD UHCA_PRELOAD
	status=0
	"$clients" --inside internal -- device ibv_devinfo || status=1
	"$clients" --inside internal -- pingpong rc-check || status=1
	"$clients" --inside internal -- pingpong rc-events || status=1
	"$clients" --inside internal -- pingpong ud-check || status=1
	"$clients" --inside internal -- perftest write_bw-RC || status=1
	exit $status
fi

command -v ibv_rc_pingpong >/dev/null || cannot "ibv_rc_pingpong is missing"
command -v ib_write_bw >/dev/null || cannot "ib_write_bw is missing"
enter=(unshare --user --map-root-user --mount)
said=$("${enter[@]}" mount -t tmpfs none /mnt 2>&1) ||
	cannot "no user namespace with mounts of its own: $said"
[ ! -d /sys/class/infiniband ] || cannot "the kernel has RDMA devices, and libibverbs asks it first"
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
# shellcheck disable=SC2016 # for the inner shell
"${UHCA_SRCDIR:?}/scripts/uhca-run" --private -- sh -c \
	'exec env -u LD_PRELOAD "$@" inside "$UHCA_DIR"' sh "${enter[@]}" "$0" >"$out" 2>&1
status=$?
cat "$out"
[ "$(grep -c '^ok ' "$out")" -ge 8 ] || status=1
exit $status
