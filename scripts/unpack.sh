# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Packages of any Debian release and architecture, unpacked into a folder: nothing is installed, and
# the machine's package lists stay as they are. Sourced by the try-* scripts.

# Where this machine has its own packages from; --mirror of the scripts says another.
# shellcheck disable=SC2016 # apt's own words
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' \
	2>/dev/null | grep -v security | head -n 1)

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# Lists, cache and idea of what is installed (nothing) are the folder's.
configure_apt() { # FOLDER SUITE ARCHITECTURE
	local apt=$1/apt
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/preferences.d"
	: >"$apt/status"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $2 main" \
		>"$apt/sources.list"
	cat >"$apt/apt.conf" <<-END
		Dir::Etc::sourcelist "$apt/sources.list";
		Dir::Etc::sourceparts "/nonexistent";
		Dir::Etc::preferencesparts "$apt/preferences.d";
		Dir::State::lists "$apt/lists";
		Dir::State::status "$apt/status";
		Dir::Cache "$apt/cache";
		APT::Architecture "$3";
		APT::Architectures "$3";
		APT::Install-Recommends "false";
		APT::Sandbox::User "";
		Acquire::Languages "none";
	END
}

# unpack FOLDER SUITE ARCHITECTURE PACKAGE...: with all that they depend on, into FOLDER/tree; does
# nothing when that was done before.
unpack() {
	local folder=$1 suite=$2 package
	[ ! -e "$folder/complete" ] || return 0
	[ -n "$mirror" ] || die "apt has no mirror; give one with --mirror URL"
	configure_apt "$1" "$2" "$3"
	shift 3
	APT_CONFIG=$folder/apt/apt.conf apt-get -qq update || die "no lists of $suite from $mirror"
	APT_CONFIG=$folder/apt/apt.conf apt-get -qq -y --download-only install "$@" \
		>"$folder/apt/log" 2>&1 ||
		die "downloading the packages failed: $(tail -n 1 "$folder/apt/log")"
	mkdir -p "$folder/tree"
	for package in "$folder"/apt/cache/archives/*.deb; do
		dpkg-deb -x "$package" "$folder/tree" || exit 1
	done
	: >"$folder/complete"
}

version_of() { # FOLDER PACKAGE
	local file
	for file in "$1/apt/cache/archives/$2"*_*.deb; do
		[ ! -e "$file" ] || dpkg-deb -f "$file" Version
	done | head -n 1
}
