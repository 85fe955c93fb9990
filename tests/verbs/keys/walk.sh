#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/verbs/keys/walk.c; its pictures must be XML where something can tell.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
folder=$(mktemp -d) || exit 1
[ -n "${UHCA_KEEP:-}" ] || trap 'rm -rf "$folder"' EXIT # else keep-failure does it
"${UHCA_SRCDIR:?}/scripts/uhca-run" --private -- "${UHCA_BUILDDIR:?}/tests/verbs/keys/walk" \
	"$folder" || exit
for picture in interleaved composite pages window invalid; do
	[ -s "$folder/$picture.svg" ] || {
		echo "no picture $picture"
		exit 1
	}
done
command -v python3 >/dev/null 2>&1 || exit 0
for picture in "$folder"/*.svg; do
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$picture" ||
		exit 1
done
