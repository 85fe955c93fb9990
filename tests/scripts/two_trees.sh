#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/uhca-run of a tree runs what was built of that tree, in whatever folder it is called.
set -u
root=$(cd "${UHCA_SRCDIR:?}" && pwd) && tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
unset UHCA_BUILDDIR UHCA_DAEMON UHCA_PRELOAD UHCA_PROVIDER UHCA_SANITIZER UHCA_PIN
failed=0

tree() { # NAME FOLDER: a tree whose build in that folder says of which tree it is
	mkdir -p "$tmp/$1/scripts" "$tmp/$1/$2"
	cp "$root/scripts/uhca-run" "$tmp/$1/scripts/"
	# shellcheck disable=SC2016 # of the inner shell
	printf '#!/bin/sh\necho "%s with $UHCA_DAEMON"\n' "$1" >"$tmp/$1/$2/uhca-run"
	chmod +x "$tmp/$1/$2/uhca-run"
}

says() { # FOLDER WANTED COMMAND...
	local said
	said=$(cd "$tmp/$1" && "${@:3}" 2>&1)
	[ "$said" = "$2" ] && return
	echo "two_trees.sh, line ${BASH_LINENO[0]}: '$said', not '$2'"
	failed=1
}

tree one build
tree two build
tree flat .
tree other elsewhere
says one "one with $tmp/one/build/uhcad" scripts/uhca-run
says one "two with $tmp/two/build/uhcad" ../two/scripts/uhca-run
says one "flat with $tmp/flat/uhcad" ../flat/scripts/uhca-run
says one "uhca-run: not built yet; see README.md, or set UHCA_BUILDDIR" ../other/scripts/uhca-run
says one "other with $tmp/other/elsewhere/uhcad" \
	env "UHCA_BUILDDIR=$tmp/other/elsewhere" ../two/scripts/uhca-run
exit $failed
