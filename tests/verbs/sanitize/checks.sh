#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Each check of the sanitizer finds its program, and is silent where it has to be; its page in
# docs/reference/sanitizer/ says what it said. (Lines of a report are those of gcc.)
pages=--pages
# shellcheck disable=SC2086 # "ccache gcc" is two words
${CC:-cc} --version 2>/dev/null | grep -qi 'gcc\|free software foundation' || pages=
"${UHCA_SRCDIR:?}/scripts/uhca-run" --private -- "$UHCA_SRCDIR/tests/verbs/sanitize/judge" $pages
one=$?
# Both ends of what takes two processes are on devices of their own, and meet on the wire.
(cd "$UHCA_SRCDIR/tests/verbs/sanitize" && printf '%s\n' across/*.c) | sed 's/\.c$//' |
	xargs "$UHCA_SRCDIR/scripts/uhca-run" --private --devices 2 --wire -- \
		"$UHCA_SRCDIR/tests/verbs/sanitize/judge" && exit $one
exit 1
