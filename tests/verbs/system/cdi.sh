#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What uhcactl cdi prints is enough: a program with nothing but these variables has the devices, and
# what is to be mounted is there. In containers: scripts/try/try-container.
set -u
srcdir=${UHCA_SRCDIR:?} builddir=${UHCA_BUILDDIR:?}
case $(ldd "$builddir/provider/.libs/libuhca_preload.so" 2>/dev/null) in
*libasan* | *libtsan* | *libubsan*)
	echo "cdi.sh: a sanitized library needs more than its own variables"
	exit 77
	;;
esac
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT

# shellcheck disable=SC2016 # for the shell inside
"$srcdir/scripts/uhca-run" --private --devices 2 -- sh -c '
	"$1/uhcactl" cdi >"$2/spec" || exit 1
	set -- "$2" $(sed -n "s/^ *\"\([A-Z_]*=[^\"]*\)\",*$/\1/p" "$2/spec" | sort -u)
	[ $# = 3 ] || exit 1
	for folder in $(sed -n "s/^ *\"hostPath\": \"\(.*\)\",$/\1/p" "$1/spec"); do
		[ -d "$folder" ] || exit 1
	done
	tmp=$1
	shift
	env -i PATH="$PATH" "$@" ibv_devices >"$tmp/devices"' sh "$builddir" "$tmp"
# shellcheck disable=SC2181 # the command is long
if [ $? != 0 ] || ! grep -q '"name": "uhca1"' "$tmp/spec" || ! grep -q uhca1 "$tmp/devices"; then
	cat "$tmp/spec" "$tmp/devices"
	echo "cdi.sh: the specification does not give a program the devices"
	exit 1
fi
if "$builddir/uhcactl" cdi --dir "$tmp/nowhere" 2>"$tmp/said"; then
	echo "cdi.sh: a specification of an instance that is not there"
	exit 1
fi
grep -q 'no daemon runs there' "$tmp/said"
