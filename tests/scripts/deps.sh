#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# scripts/deps on a release that lacks a package: the others are installed and what is not there is
# named, unless nothing works without it. dpkg and apt are scripts that note what they are asked.
set -u
srcdir=$(cd "${UHCA_SRCDIR:?}" && pwd) && tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
status=0

command_of() { # NAME, its body on standard input
	{ echo '#!/bin/sh' && cat; } >"$tmp/bin/$1" && chmod +x "$tmp/bin/$1"
}
mkdir "$tmp/bin"
command_of dpkg-query </dev/null # nothing is installed
command_of sudo <<-'END'
	exec "$@"
END
command_of systemctl </dev/null
command_of apt-cache <<-'END'
	for name in $ABSENT; do
		[ "$2" != "$name" ] || exit 0
	done
	echo "$2 | 1-1 | http://mirror.invalid"
END
command_of apt-get <<-'END'
	case " $* " in *" download "*) exit 1 ;; *" update "*) exit 0 ;; esac
	for name in $ABSENT; do
		case " $* " in *" $name "*) exit 100 ;; esac
	done
	echo "$*" >>"$NOTES"
END

deps() { # ABSENT SET...: its words in said, what is installed in notes
	: >"$tmp/notes"
	ABSENT=$1 NOTES=$tmp/notes PATH=$tmp/bin:$PATH
	export ABSENT NOTES
	shift
	"$srcdir/scripts/deps" --install "$@" >"$tmp/said" 2>&1 </dev/null
}
expect() { # WHAT: of what the last command answered
	[ $? = 0 ] && return
	echo "FAIL $1; it said:"
	cat "$tmp/said"
	status=1
}
installed() { # WORD...: in one call of apt-get
	for word; do
		grep -q " $word\b" "$tmp/notes" || return 1
	done
}

deps "" clients && installed fio librpma-dev
expect "all is installed where all is there"
deps "librpma-dev fio" clients && installed qperf mpich && ! installed fio
expect "what is there is installed beside what is not"
grep -q 'no librpma-dev;' "$tmp/said" && grep -q 'no fio;' "$tmp/said"
expect "what is not there is named"
! deps "libev-dev" && grep -q 'no libev-dev, which uhca needs' "$tmp/said"
expect "without a package of the build it fails"
[ ! -s "$tmp/notes" ]
expect "and installs nothing"
exit $status
