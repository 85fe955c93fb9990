#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What "make install" puts in place is enough to build programs, in C and in C++, by pkg-config,
# and they run: the installed libuhca finds the plugin that libibverbs has loaded.
set -u
srcdir=${UHCA_SRCDIR:?}
builddir=${UHCA_BUILDDIR:?}
dest=$(mktemp -d) || exit 99
trap 'rm -rf "$dest"' EXIT
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

make -C "$builddir" install DESTDIR="$dest" >"$dest/log" 2>&1 || {
	cat "$dest/log"
	fail "make install failed"
}
for file in infiniband/uhcadv.h libuhca.so libuhca.so.0 pkgconfig/libuhca.pc \
	completions/uhcactl site-functions/_uhca-run vendor_completions.d/uhcad.fish \
	uhca_fixture.h systemd/system/uhcad@.service; do
	[ -n "$(find "$dest" -path "*/$file")" ] || fail "$file is not installed"
done

unit=$(find "$dest" -name uhcad@.service)
grep -q "^ExecStart=/.*/uhcad --dir" "$unit" || fail "the unit does not name the daemon"
! grep '@[a-z]*@' "$unit" || fail "a place of the unit is not filled in"

PKG_CONFIG_PATH=$(dirname "$(find "$dest" -name libuhca.pc)")
export PKG_CONFIG_PATH
flags=$(PKG_CONFIG_SYSROOT_DIR=$dest "${PKG_CONFIG:-pkg-config}" --cflags --libs libuhca) ||
	fail "pkg-config does not know libuhca"
echo "$flags" | grep -q -e -luhca || fail "pkg-config says: $flags"
libdir=$(dirname "$(find "$dest" -name libuhca.so.0)")

# Good in both languages.
cat >"$dest/program.c" <<'EOF'
#include <infiniband/uhcadv.h>
#include <stdio.h>
int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct uhcadv_device_attr attr;
	struct ibv_context *c;

	if (!list || !list[0] || !uhcadv_is_supported(list[0]))
		return 1;
	c = ibv_open_device(list[0]);
	if (!c || uhcadv_query_device(c, &attr, sizeof(attr)))
		return 2;
	printf("%s %s\n", attr.profile, uhcadv_wc_opcode_str(UHCADV_WC_REG_MR));
	return ibv_close_device(c);
}
EOF
cp "$dest/program.c" "$dest/program.cc"

try() { # SOURCE COMPILER...
	source=$1
	shift
	# shellcheck disable=SC2086 # flags are words
	"$@" -Wall -Wextra -Werror -o "$dest/program" "$source" $flags -libverbs ||
		fail "$*: does not build"
	LD_LIBRARY_PATH=$libdir ldd "$dest/program" | grep -q "$libdir/libuhca.so.0" ||
		fail "libuhca.so.0 is not what the program needs"
	said=$(LD_LIBRARY_PATH=$libdir "$srcdir/scripts/uhca-run" --private -- "$dest/program")
	[ "$said" = "default REG_MR" ] || fail "$*: the program says '$said'"
}
# shellcheck disable=SC2086 # CC may have arguments
try "$dest/program.c" ${CC:-cc}
cxx=${CXX:-$(command -v c++ || command -v g++ || command -v clang++)}
if [ -n "$cxx" ]; then
	# shellcheck disable=SC2086
	try "$dest/program.cc" $cxx
else
	echo "install.sh: no C++ compiler here: the header is not tried with one"
fi
make -C "$builddir" uninstall DESTDIR="$dest" >"$dest/log" 2>&1 || fail "make uninstall failed"
[ -z "$(find "$dest" -name '*uhca*' ! -type d)" ] ||
	fail "uninstalling leaves $(find "$dest" -name '*uhca*' ! -type d)"
