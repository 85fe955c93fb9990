#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs uhca for one user, without root: checks the tarball's checksum and unpacks it.
#
#   install.sh [--prefix DIR] TARBALL
#
#   TARBALL        uhca-VERSION-linux-MACHINE.tar.xz, a file or a URL; TARBALL.sha256 is beside it
#   --prefix DIR   target folder (default: ~/.local); the programs are in DIR/bin
set -eu
prefix=${HOME:?}/.local
case ${1:-} in
--prefix) prefix=${2:?which folder?} && shift 2 ;;
-h | --help) sed -n '3,/^set -eu/{/^set -eu/d;s/^# \{0,1\}//p}' "$0" && exit 0 ;;
esac
[ $# = 1 ] || { echo "install.sh: the tarball is missing; see --help" >&2 && exit 2; }
name=${1##*/} machine=$(uname -m | sed s/aarch64/arm64/)
case $name in
*-linux-"$machine".tar.xz) ;;
*) echo "install.sh: $name is not a tarball for $machine" >&2 && exit 1 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in "$1" "$1.sha256"; do
	case $file in
	*://*) curl -fsSL -o "$work/${file##*/}" "$file" ;;
	*) cp "$file" "$work/" ;;
	esac
done
(cd "$work" && sha256sum --quiet -c "$name.sha256") || {
	echo "install.sh: checksum of $name does not match; nothing installed" >&2
	exit 1
}
mkdir -p "$prefix" && tar -C "$prefix" --strip-components=1 --no-same-owner -xf "$work/$name"
"$prefix/bin/uhca-run" --version
echo "installed in $prefix/bin; try: $prefix/bin/uhca-run ibv_devinfo"
