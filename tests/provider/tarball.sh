#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The tarball of this build works wherever it is unpacked, for another user: a stock program finds
# the device, the parts find each other by their places, and install.sh installs it. Building for
# old systems is scripts/package's, and tried by scripts/try/try-tarball.
set -u
srcdir=$(cd "${UHCA_SRCDIR:?}" && pwd) builddir=${UHCA_BUILDDIR:?}
[ "${TARBALL_INSIDE:-}" = 1 ] ||
	TARBALL_INSIDE=1 exec "$srcdir/tests/support/own-network" bash "$0" "$@"
# shellcheck source=scripts/version.sh
. "$srcdir/scripts/version.sh"
# shellcheck source=scripts/tarball.sh
. "$srcdir/scripts/tarball.sh"
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
unset UHCA_DAEMON UHCA_PRELOAD UHCA_PROVIDER UHCA_SANITIZER UHCA_KEEP LD_PRELOAD LD_LIBRARY_PATH
export HOME=$tmp/home XZ_OPT=-0

fail() {
	echo "tarball.sh: $*" >&2
	[ ! -e "$tmp/said" ] || cat "$tmp/said" >&2
	exit 1
}

variable() { # NAME: what configure made of it, for ordinary folders
	sed -n "s/^$1 = //p" "$builddir/Makefile"
}

# shellcheck disable=SC2016 # make's variable
[ "$(variable libdir)" = '${exec_prefix}/lib' ] || {
	echo "tarball.sh: configured with a libdir of its own: no tarball can be made of it"
	exit 77
}
if grep -qs __asan_init "$builddir"/provider/.libs/libuhca_preload.so; then
	echo "tarball.sh: built with AddressSanitizer, which stock programs do not have"
	exit 77
fi
make -s -C "$builddir" install DESTDIR="$tmp/stage" >"$tmp/said" 2>&1 || fail "no installation"
machine=$(uname -m | sed s/aarch64/arm64/)
name=$(tarball_name "$(version_in "$srcdir")" "$machine")
pack_tarball "$tmp/stage" "$(variable prefix)" "$name" "$tmp" "$srcdir" || fail "no tarball"
tarball=$tmp/$name.tar.xz
mkdir "$tmp/bin" && mkdir -m 1777 "$tmp/any" "$tmp/any/a b" "$tmp/home" &&
	chmod 755 "$tmp" && chmod 644 "$tarball" || exit 99

# As somebody else, where we may be.
other=()
[ "$(id -u)" != 0 ] ||
	other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
"${other[@]}" test -r "$tarball" -a -r "$srcdir/scripts/ci" || other=()
as_other() { # COMMAND...: within a minute
	TMPDIR=$tmp/any timeout -k 2 240 "${other[@]}" "$@" >"$tmp/said" 2>&1
}

as_other tar -C "$tmp/any" -xf "$tarball" || fail "it cannot be unpacked"
run=$tmp/any/$name/bin/uhca-run
as_other "$run" --private -- ibv_devinfo || fail "no device"
grep -q 'hca_id:.*uhca0' "$tmp/said" || fail "no uhca0"
# shellcheck disable=SC2016 # for the shell inside
as_other "$run" --private --sanitize -- \
	sh -c 'echo "$LD_PRELOAD" && readlink "/proc/$(cat "$UHCA_DIR/pid")/exe" &&
		uhcactl show device' ||
	fail "no sanitizer or uhcactl"
[ "$(grep -c "^$tmp/any/$name/" "$tmp/said")" = 2 ] || fail "parts of another installation run"
[ "${#other[@]}" = 0 ] || [ "$(stat -c %U "$run")" != root ] || fail "nobody unpacked nothing"

# A library for LD_PRELOAD cannot lie below a folder with a space.
as_other tar -C "$tmp/any/a b" -xf "$tarball" || fail "it cannot be unpacked"
! as_other "$tmp/any/a b/$name/bin/uhca-run" --private -- ibv_devinfo ||
	fail "a folder with a space works, which is not expected"
grep -q 'LD_PRELOAD cannot name a path with a space' "$tmp/said" || fail "not said why"

# For programs that are built, and for Python.
said=$(PKG_CONFIG_PATH=$tmp/any/$name/lib/pkgconfig ${PKG_CONFIG:-pkg-config} --cflags libuhca) ||
	fail "no pkg-config"
[[ $said = *"/any/$name/"*include* ]] || fail "pkg-config says $said"
as_other env PYTHONPATH="$tmp/any/$name/share/uhca/python" PYTHONDONTWRITEBYTECODE=1 python3 -c \
	'import uhca; print(uhca._find())' || fail "no Python"
grep -qx "$tmp/any/$name/lib/libuhcactl.so.0" "$tmp/said" || fail "Python loads another library"

# install.sh: only what has the right checksum, into the user's own folder.
cp "$tarball" "$tarball.sha256" "$tmp/any/" && chmod 666 "$tmp/any/$name.tar.xz" || exit 99
as_other env HOME="$tmp/home" sh "$srcdir/install.sh" "$tmp/any/$name.tar.xz" || fail "install.sh"
as_other "$tmp/home/.local/bin/uhca-run" --private -- ibv_devinfo ||
	fail "what install.sh has installed does not run"
echo more >>"$tmp/any/$name.tar.xz"
! as_other sh "$srcdir/install.sh" --prefix "$tmp/any/new" "$tmp/any/$name.tar.xz" ||
	fail "a wrong checksum is installed"
grep -q 'nothing installed' "$tmp/said" || fail "not said that nothing is installed"
[ ! -e "$tmp/any/new" ] || fail "what has a wrong checksum is unpacked"
sha256sum /etc/passwd >"$tmp/any/$name.tar.xz.sha256"
! as_other sh "$srcdir/install.sh" --prefix "$tmp/any/new" "$tmp/any/$name.tar.xz" ||
	fail "the checksum of another file is taken"
cp "$tarball" "$tarball.sha256" "$tmp/any/"
! as_other sh "$srcdir/install.sh" --prefix /dev/null/new "$tmp/any/$name.tar.xz" ||
	fail "a prefix that cannot be made is taken"
grep -q 'cannot make /dev/null/new; nothing installed' "$tmp/said" || fail "not said what failed"
! as_other sh "$srcdir/install.sh" --prefix "$tmp/any/a b" "$tmp/any/$name.tar.xz" ||
	fail "a prefix with a space is taken"
! as_other sh "$srcdir/install.sh" --prefxi x || fail "an unknown option is taken"
grep -q 'unknown option --prefxi' "$tmp/said" || fail "the option is not named"
mv "$tmp/any/$name.tar.xz" "$tmp/any/uhca-1-linux-vax.tar.xz"
! as_other sh "$srcdir/install.sh" "$tmp/any/uhca-1-linux-vax.tar.xz" || fail "another machine's"
grep -q 'is not a tarball for' "$tmp/said" || fail "not said that it is for another machine"

# scripts/ci takes a tarball that it is told of, and on GitHub that of the release that is used.
cat >"$tmp/bin/curl" <<END
#!/bin/sh
while [ "\$1" != -o ]; do shift; done
echo "\$3" >>"$tmp/any/asked"
case \$3 in
*/v0/*) exit 22 ;;
*.sha256) cp "$tarball.sha256" "\$2" ;;
*) cp "$tarball" "\$2" ;;
esac
END
chmod +x "$tmp/bin/curl"
install=("$srcdir/scripts/ci" install --prefix "$tmp/any/ci")
as_other env GITHUB_PATH="$tmp/any/path" "${install[@]}" --tarball "$tarball" ||
	fail "scripts/ci does not install it"
grep -qx "$tmp/any/ci/bin" "$tmp/any/path" || fail "later steps do not find it"
as_other env PATH="$tmp/any/ci/bin:$PATH" \
	"$srcdir/scripts/ci" run --results "$tmp/any/results" -- ibv_devinfo -d uhca0 ||
	fail "scripts/ci does not run what it has installed"
rm -rf "$tmp/any/ci"
as_other env PATH="$tmp/bin:$PATH" GITHUB_SERVER_URL=https://hub \
	GITHUB_ACTION_REPOSITORY=me/uhca GITHUB_ACTION_REF=v0.1.0 "${install[@]}" ||
	fail "no tarball of a release"
grep -qx "https://hub/me/uhca/releases/download/v0.1.0/$name.tar.xz" "$tmp/any/asked" ||
	fail "the release is not asked for: $(cat "$tmp/any/asked")"
[ -x "$tmp/any/ci/bin/uhca-run" ] || fail "the release is not installed"

# What is taken away again by the tarball's own list.
tar -tf "$tarball" | grep -v '/$' | sed "s|^[^/]*|$HOME/.local|" | xargs rm -f
[ -z "$(find "$tmp/home/.local" ! -type d)" ] || fail "files are left when all were removed"
exit 0
