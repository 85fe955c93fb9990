#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The projects of docs/how-to/projects in C and C++, built and run as their pages say, in a
# copy; and the fixture header where there is no uhca-run.
set -u
srcdir=$(cd "${UHCA_SRCDIR:?}" && pwd) && builddir=$(cd "${UHCA_BUILDDIR:?}" && pwd) || exit 99
tmp=$(mktemp -d) && cp -R "$srcdir/docs/how-to/projects" "$tmp/" && chmod -R u+w "$tmp" || exit 99
trap 'rm -rf "$tmp"' EXIT
library=$builddir/emu/ctl/.libs
case $(ldd "$library/libuhcactl.so.0") in
*libasan* | *libtsan* | *libubsan*)
	echo "cookbook.sh: a sanitized library does not go into programs that are not"
	exit 77
	;;
esac
# What is installed elsewhere: uhca-run in PATH, the library for pkg-config.
mkdir "$tmp/bin" "$tmp/pc" && cp "$library"/libuhcactl.so* "$tmp/pc" || exit 99
printf '#!/bin/sh\nexec "%s" "$@"\n' "$srcdir/scripts/uhca-run" >"$tmp/bin/uhca-run"
chmod +x "$tmp/bin/uhca-run"
sed "s|@libdir@|$tmp/pc|; s|@includedir@|$srcdir/emu/ctl/lib|; s|@PACKAGE_VERSION@|0|
	/@/d" "$srcdir/emu/ctl/lib/uhcactl.pc.in" >"$tmp/pc/uhcactl.pc"
PATH=$tmp/bin:$PATH PKG_CONFIG_PATH=$tmp/pc LD_LIBRARY_PATH=$tmp/pc UHCA_BUILDDIR=$builddir
export PATH PKG_CONFIG_PATH LD_LIBRARY_PATH UHCA_BUILDDIR
unset UHCA_DIR UHCA_RUN MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
status=0 skipped=''

# said PROJECT WORDS COMMAND...: it ends well, and says these words.
said() {
	project=$1 words=$2
	shift 2
	cd "$tmp/projects/$project" || exit 99
	if timeout -k 2 240 "$@" >"$tmp/said" 2>&1 && grep -q -e "$words" "$tmp/said"; then
		echo "ok   $project: $*"
	else
		cat "$tmp/said"
		echo "FAIL $project: $*"
		status=1
	fi
}

has() { # PROJECT PROGRAM-OR-HEADER PACKAGE
	if command -v "$2" >/dev/null || [ -e "/usr/include/$2" ]; then
		return 0
	fi
	echo "skip $1: no $3 (scripts/deps --install tests)"
	skipped=1
	return 1
}

if has cmocka cmocka.h libcmocka-dev; then
	said cmocka 'PASSED.*3 test' make check
	PATH=/usr/bin:/bin ./test_rdma_write >"$tmp/said" 2>&1
	if [ $? != 125 ] || ! grep -q 'uhca-run: No such file' "$tmp/said"; then
		cat "$tmp/said"
		echo "FAIL cmocka: without uhca-run"
		status=1
	fi
fi
if has googletest gtest/gtest.h libgtest-dev; then
	said googletest 'PASSED.*3 tests' make check
	if has ctest cmake cmake; then
		said ctest . cmake -S . -B build
		said ctest . cmake --build build
		said ctest '100% tests passed.* of 5' \
			ctest --test-dir build -j 2 --output-on-failure
	fi
fi
if has meson meson meson; then
	said meson . meson setup build
	said meson '^Ok: *4' meson test -C build
	said meson '^Ok: *1' meson test -C build --setup lossy plain
	sed -i "/^add_test_setup/d; /^  'drop/d" meson.build
	said meson '^Ok: *1' meson test -C build --wrapper 'uhca-run --private --' plain
fi
[ $status != 0 ] || [ -z "$skipped" ] || status=77
[ $status != 77 ] || [ "${CI:-}" != true ] || status=1
exit $status
