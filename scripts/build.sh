# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Builds the tree in build/ (or $build_name/); quick when nothing has changed. Sourced by
# quickstart, check and sanitize.
build_name=build

# build_tree ROOT CONFIGURE-ARGUMENT...: an existing configuration is kept when it has the
# arguments. libtool runs in configure's shell, once for each file: sh is faster than bash.
build_tree() {
	local root=$1 argument wanted=
	shift
	cd "$root" || return 1
	if [ ! -x configure ] || [ configure.ac -nt configure ]; then
		echo "== autoreconf"
		autoreconf -fi >autoreconf.log 2>&1 || {
			cat autoreconf.log
			return 1
		}
		rm -f autoreconf.log
	fi
	mkdir -p "$build_name" && cd "$build_name" || return 1
	[ -f Makefile ] || wanted=1
	for argument in "$@"; do
		grep -qsF -e "$argument" config.status || wanted=1
	done
	if [ -n "$wanted" ]; then
		echo "== configure $*"
		CONFIG_SHELL=/bin/sh /bin/sh ../configure -q "$@" || return 1
	fi
	echo "== make"
	make -s -j"$(nproc)" || return 1
	cd "$root" || return 1
}
