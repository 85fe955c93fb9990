# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What version this is and since when: configure.ac says the version, CHANGELOG.md what is new in
# it. Sourced by package and release.

# version_in FOLDER
version_in() {
	sed -n 's/^AC_INIT(\[uhca\], \[\([^]]*\)\].*/\1/p' "$1/configure.ac"
}

# news_of FOLDER: the text of the newest section that says anything, without headings.
news_of() {
	awk '/^## / { if (text) exit; on = 1; next } on && /./ { text = 1 } text' \
		"$1/CHANGELOG.md"
}

# date_in FOLDER: seconds since the epoch: the day that the changelog says the version was released
# (its beginning: make would not know what to do with files that are of the future), or the time of
# the last commit, or of the newest of its files.
date_in() {
	local day version
	version=$(version_in "$1")
	day=$(sed -n "s/^## ${version//./\\.}, \([0-9]\{4\}-[0-9-]*\)\$/\1/p" "$1/CHANGELOG.md")
	if [ -n "$day" ]; then
		date -u -d "$day" +%s
	elif [ -e "$1/.git" ]; then
		git -C "$1" log -1 --format=%ct
	else
		stat -c %Y "$1/configure"
	fi
}

# debian_changelog FOLDER REVISION: the one entry that Debian's tools ask for; the release's own
# changelog has the history.
debian_changelog() {
	local maintainer
	maintainer=$(sed -n 's/^Maintainer: //p' "$1/packaging/debian/control")
	echo "uhca ($(version_in "$1")-$2) unstable; urgency=medium"
	echo
	echo "  * $(version_in "$1"): see CHANGELOG.md for what is new in it."
	echo
	echo " -- $maintainer  $(LC_ALL=C date -u -R -d "@$(date_in "$1")")"
}
