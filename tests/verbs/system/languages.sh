#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The projects of docs/how-to/projects in Rust and Go, tested as their pages say, in a copy and
# without a network.
set -u
srcdir=$(cd "${UHCA_SRCDIR:?}" && pwd) && builddir=$(cd "${UHCA_BUILDDIR:?}" && pwd) || exit 99
tmp=$(mktemp -d) && cp -R "$srcdir/docs/how-to/projects" "$tmp/" && chmod -R u+w "$tmp" || exit 99
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/bin" || exit 99
printf '#!/bin/sh\nexec "%s" "$@"\n' "$srcdir/scripts/uhca-run" >"$tmp/bin/uhca-run"
chmod +x "$tmp/bin/uhca-run"
PATH=$tmp/bin:$PATH UHCA_BUILDDIR=$builddir CARGO_TARGET_DIR=$tmp/cargo
GOPATH=$tmp/go GOCACHE=$tmp/gocache GOPROXY=off GOTOOLCHAIN=local GOFLAGS=
export PATH UHCA_BUILDDIR CARGO_TARGET_DIR GOPATH GOCACHE GOPROXY GOTOOLCHAIN GOFLAGS
unset UHCA_DIR UHCA_RUN
status=0

# said PROJECT WORDS COMMAND...: it ends well, and says these words.
said() {
	project=$1 words=$2
	shift 2
	cd "$tmp/projects/$project" || exit 99
	if timeout -k 2 240 "$@" >"$tmp/said" 2>&1 && grep -q -e "$words" "$tmp/said"; then
		echo "ok   $project: $*"
	else
		cat "$tmp/said"
		echo "FAIL $project: $*"
		status=1
	fi
}

said cargo 'test result: ok. 1 passed' cargo test --offline
said go '^PASS$' go test -count=1 -v -exec 'uhca-run --private --devices 2 --'
for test in TestTwoDevices TestWrite TestFilesOfGo; do
	grep -q "^--- PASS: $test" "$tmp/said" || {
		echo "FAIL go: $test"
		status=1
	}
done
exit $status
