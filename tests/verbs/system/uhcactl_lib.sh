#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# uhcactl_lib.c, and the same from Python, as users' tests on devices of their own.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
status=0
"${UHCA_SRCDIR:?}/scripts/uhca-run" --private --devices 2 -- \
	"${UHCA_BUILDDIR:?}/tests/verbs/system/uhcactl_lib" || status=1

command -v python3 >/dev/null || {
	echo "python3 is missing (scripts/deps --install)"
	[ "${CI:-}" = true ] && exit 1
	exit $status
}
UHCACTL_LIBRARY=$UHCA_BUILDDIR/emu/ctl/.libs/libuhcactl.so
[ -e "$UHCACTL_LIBRARY" ] || UHCACTL_LIBRARY=$UHCA_BUILDDIR/.libs/libuhcactl.so
export UHCACTL_LIBRARY
# Python itself is not built with a sanitizer: its run-time library comes with ours.
case $(ldd "$UHCACTL_LIBRARY" 2>/dev/null) in
*libasan* | *libtsan* | *libubsan*) echo "a sanitized library: not with this Python" ;;
*)
	"$UHCA_SRCDIR/scripts/uhca-run" --private -- \
		python3 "$UHCA_SRCDIR/tests/verbs/system/uhcactl_lib.py" || status=1
	;;
esac
exit $status
