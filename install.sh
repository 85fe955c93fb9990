#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs uhca for one user, without root: checks the tarball's checksum and unpacks it.
#
#   install.sh [--prefix DIR] TARBALL
#
#   TARBALL        uhca-VERSION-linux-MACHINE.tar.xz, a file or a URL; TARBALL.sha256 is beside it
#   --prefix DIR   target folder (default: ~/.local); the programs are in DIR/bin
set -eu
die() { echo "install.sh: $*" >&2 && exit 1; }
prefix=${HOME:?}/.local
case ${1:-} in
--prefix) [ $# -gt 1 ] || die "--prefix needs a folder; see --help" && prefix=$2 && shift 2 ;;
-h | --help) sed -n '3,/^set -eu/{/^set -eu/d;s/^# \{0,1\}//p}' "$0" && exit 0 ;;
-*) die "unknown option $1; see --help" ;;
esac
[ $# = 1 ] || die "one tarball is needed, not $#; see --help"
case $prefix in *[\ :]*) die "--prefix: '$prefix' must have no space and no colon" ;; esac
name=${1##*/} machine=$(uname -m | sed s/aarch64/arm64/)
case $name in
*-linux-"$machine".tar.xz) ;;
*) die "$name is not a tarball for $machine" ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in "$1" "$1.sha256"; do
	case $file in
	*://*) curl -fsSL -o "$work/${file##*/}" "$file" ;;
	*) cp "$file" "$work/" ;;
	esac || die "cannot get $file; nothing installed"
done
[ "$(sha256sum <"$work/$name" | cut -c-64)" = "$(head -c 64 "$work/$name.sha256")" ] ||
	die "checksum of $name does not match; nothing installed"
mkdir -p "$prefix" || die "cannot make $prefix; nothing installed"
tar -C "$prefix" --strip-components=1 --no-same-owner -xf "$work/$name" ||
	die "cannot unpack into $prefix"
"$prefix/bin/uhca-run" --version
echo "installed in $prefix/bin; try: $prefix/bin/uhca-run ibv_devinfo"
