#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The steps of a CI job (scripts/ci run, and what action.yml makes of its inputs), with a program
# that passes and one that fails. The installation is tried by scripts/try/try-ci.
set -u
srcdir=${UHCA_SRCDIR:?} builddir=${UHCA_BUILDDIR:?}
srcdir=$(cd "$srcdir" && pwd) && tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/bin" && ln -s "$builddir/uhca-run" "$builddir/uhcactl" "$tmp/bin/" &&
	cd "$tmp" || exit 99
# uhca-run as the tree has it, by the name that is looked for in PATH.
printf '#!/bin/sh\nexec %s/scripts/uhca-run "$@"\n' "$srcdir" >"$tmp/bin/wrapper"
rm "$tmp/bin/uhca-run" && chmod +x "$tmp/bin/wrapper" && mv "$tmp/bin/wrapper" "$tmp/bin/uhca-run"
PATH=$tmp/bin:$PATH
unset GITHUB_ACTIONS
failed=0

complain() {
	echo "ci.sh: $*"
	cat "$tmp/said"
	failed=1
}

expect() { # STATUS COMMAND...
	want=$1
	shift
	timeout -k 2 240 "$@" >"$tmp/said" 2>&1
	status=$?
	[ $status = "$want" ] || complain "$status, not $want: $*"
}

expect 125 "$srcdir/scripts/ci"
expect 125 "$srcdir/scripts/ci" run
expect 125 "$srcdir/scripts/ci" install --no-such-option
expect 125 "$srcdir/scripts/ci" run --scenario no-such.scn
grep -q 'no-such.scn: No such file' "$tmp/said" || complain "the missing file is not named"
[ ! -e uhca-results/kept ] || complain "a folder without anything in it"

# What passes leaves a word about the machine and no traces.
expect 0 "$srcdir/scripts/ci" run --devices 2 --limit max_qp=9 -- ibv_devinfo -v -d uhca1
grep -q 'max_qp:[[:space:]]*9$' "$tmp/said" || complain "no second device with 9 QPs"
grep -q 'uhca works here' uhca-results/doctor.txt || complain "no word about the machine"
[ ! -e uhca-results/kept ] || complain "traces of what passed"

# What fails: its status, what the device saw last.
expect 3 env GITHUB_ACTIONS=true "$srcdir/scripts/ci" run --results r -- \
	sh -c 'ibv_devinfo >/dev/null; exit 3'
grep -q '^::error title=uhca::status 3 of' "$tmp/said" || complain "no annotation"
for file in recorder.pcapng log explain.txt report.html state.json; do
	[ -s r/kept/sh/$file ] || complain "no $file is kept"
done
grep -q 'last packets of the devices: .*/r/kept$' "$tmp/said" || complain "not said where"

# What it printed, for who reads JUnit, and in GitHub's summary.
expect 4 env GITHUB_STEP_SUMMARY="$tmp/summary" "$srcdir/scripts/ci" run --results r --wire \
	--gso off --own-network -- sh -c 'echo "out <&>"; echo err >&2; exit 4'
[ "$(grep -cxE 'out <&>|err' "$tmp/said")" = 2 ] || complain "its output is not shown"
python3 - r/command.xml <<'EOF' || complain "JUnit of a command"
import sys, xml.etree.ElementTree as t
s = t.parse(sys.argv[1]).getroot()
assert s.get("failures") == "1" and s.find("testcase/failure").get("message") == "status 4"
assert sorted(s.find("system-out").text.split("\n")[:2]) == ["err", "out <&>"]
EOF
grep -q '^| `sh -c .* | \*\*status 4\*\* | [0-9]* s |$' "$tmp/summary" || complain "no summary"
expect 0 "$srcdir/scripts/ci" run --results r -- true
grep -q 'failures="0"' r/command.xml || complain "JUnit of a command that passes"

# Scenarios: good, and with an expectation that is not met; the command runs all the same.
cat >good.scn <<'EOF'
title A device is there
run info: ibv_devinfo -d uhca0
expect exit info
EOF
sed 's/uhca0/uhca7/' good.scn >bad.scn
export UHCA_RUN='ibv_devinfo | head -n 1 >ran' UHCA_SCENARIO='good.scn' UHCA_OPTIONS='' \
	UHCA_DEVICES=1 UHCA_PROFILE=minimal UHCA_RESULTS=results
expect 0 "$srcdir/packaging/ci/github-run"
grep -q 'failures="0"' results/scenarios.xml || complain "the scenario does not pass"
grep -q uhca0 ran || complain "the command did not run"
rm -f ran
UHCA_SCENARIO='good.scn bad.scn' expect 1 "$srcdir/packaging/ci/github-run"
grep -q 'failures="1"' results/scenarios.xml || complain "no scenario fails"
[ -s results/kept/bad/explain.txt ] || complain "the kept folder is not named after the scenario"
rm -f ran
GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY="$tmp/summary2" UHCA_SCENARIO='good.scn bad.scn' \
	expect 1 "$srcdir/packaging/ci/github-run"
grep -q '^::error file=bad.scn,line=3,title=A device is there::expect exit info: found 255' \
	"$tmp/said" || complain "no annotation at the line"
grep -q '^| A device is there | \*\*failed\*\* | 0 of 1 | .* | line 3: expect exit info (found' \
	"$tmp/summary2" || complain "no line of the summary"
grep -q uhca0 ran || complain "the command did not run behind a scenario that failed"
exit $failed
