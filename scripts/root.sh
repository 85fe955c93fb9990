# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Bare roots of Debian releases in folders, and commands in them. Sourced by package, try-package
# and release, behind unpack.sh, which knows the mirror. Needs root, mmdebstrap and a network.

need_root() {
	[ "$(id -u)" = 0 ] || die "needs root, for chroot(2) and namespaces"
	command -v mmdebstrap >/dev/null 2>&1 || die "mmdebstrap is missing (Debian: mmdebstrap)"
	[ -n "$mirror" ] || die "apt knows no mirror; say one with --mirror URL"
}

# make_root FOLDER SUITE VARIANT [PACKAGE...]: what mmdebstrap makes of it, with a user of number
# 1000; does nothing when just that was done before. With $foreign, an architecture, its packages
# can be had, too (PACKAGE:ARCHITECTURE).
make_root() {
	local folder=$1 suite=$2 variant=$3 packages
	shift 3
	packages=$(IFS=, && echo "$*")
	[ "$(cat "$folder.complete" 2>/dev/null)" != "$suite $variant $packages" ] || return 0
	rm -rf "${folder:?}" "$folder.complete" && mkdir -p "${folder%/*}"
	# As this machine has it: an archive that is a snapshot has lists whose date is over.
	mmdebstrap --quiet --variant="$variant" \
		--aptopt="$(apt-config dump Acquire::Check-Valid-Until)" \
		${foreign:+--architectures="$(dpkg --print-architecture),$foreign"} \
		${packages:+--include="$packages"} \
		"$suite" "$folder" "$mirror" || die "no root of $suite from $mirror"
	echo 'user:x:1000:1000::/srv/user:/bin/sh' >>"$folder/etc/passwd"
	echo 'user:*:19000:0:99999:7:::' >>"$folder/etc/shadow"
	echo 'user:x:1000:' >>"$folder/etc/group"
	install -d -o 1000 -g 1000 "$folder/srv/user"
	echo "$suite $variant $packages" >"$folder.complete"
}

# in_root FOLDER [--network] [--as-user] COMMAND...: in processes, mounts and, unless the network
# is asked for, a network of its own, where only lo is.
in_root() {
	local folder=$1 spaces=(--mount --pid --fork --kill-child --net) who=0:0 home=/
	shift
	while :; do
		case $1 in
		--network) spaces=(--mount --pid --fork --kill-child) ;;
		--as-user) who=1000:1000 home=/srv/user ;;
		*) break ;;
		esac
		shift
	done
	[ ${#spaces[@]} = 5 ] || cp /etc/resolv.conf "$folder/etc/resolv.conf" || return 1
	# Not chroot(2) alone: in what it makes, no user has namespaces of his own.
	# shellcheck disable=SC2016 # for the shell inside
	unshare "${spaces[@]}" sh -c '
		root=$1 who=$2 home=$3
		shift 3
		ip link set lo up && mount --bind "$root" "$root" &&
			mount -t proc proc "$root/proc" &&
			mount -t sysfs -o ro sysfs "$root/sys" &&
			mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" &&
			mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" &&
			cd "$root" && pivot_root . mnt && cd / && umount -l /mnt || exit 125
		exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			HOME="$home" LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
			${SOURCE_DATE_EPOCH:+"SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH"} \
			${DEB_BUILD_OPTIONS:+"DEB_BUILD_OPTIONS=$DEB_BUILD_OPTIONS"} \
			chroot --userspec="$who" / "$@"' \
		sh "$folder" "$who" "$home" "$@" </dev/null
}
