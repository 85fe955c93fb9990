# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Builds the tree, or $build_goals of it, in build/ (or $build_name/); quick when nothing has
# changed. Sourced by quickstart, check and sanitize.
build_name=build
build_goals=(all)
# For what only tests need: mold links in a third of the time.
# shellcheck disable=SC2034 # for those who source this
quick_link=$(command -v mold >/dev/null && echo -fuse-ld=mold)

# One line each 5 seconds in place of one for each file that is compiled; what else make says stays.
show_progress() {
	local line files=0 begin=$SECONDS next=5
	while IFS= read -r line; do
		case $line in
		'  CC '* | '  CCLD '* | '  AR '* | '  GEN '*) files=$((files + 1)) ;;
		*) printf '%s\n' "$line" ;;
		esac
		[ $((SECONDS - begin)) -ge $next ] || continue
		echo "   $files files after $((SECONDS - begin)) s"
		next=$((SECONDS - begin + 5))
	done
}

make_configure() { # ROOT: goes there
	cd "$1" || return 1
	[ ! -x configure ] || [ configure.ac -nt configure ] || return 0
	echo "== autoreconf"
	autoreconf -fi >autoreconf.log 2>&1 || {
		cat autoreconf.log
		return 1
	}
	rm -f autoreconf.log
}

# build_tree ROOT CONFIGURE-ARGUMENT...: an existing configuration is kept when it has the
# arguments. libtool runs in configure's shell, once for each file: sh is faster than bash.
build_tree() {
	local root=$1 argument wanted=
	shift
	make_configure "$root" || return 1
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
	make -s -j"$(nproc)" "${build_goals[@]}" 2>&1 | show_progress
	[ "${PIPESTATUS[0]}" = 0 ] || return 1
	cd "$root" || return 1
}
