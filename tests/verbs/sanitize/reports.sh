#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Reports of the sanitizer: status, suppressions, formats, limits, and answers to wrong options.
set -u
run=${UHCA_SRCDIR:?}/scripts/uhca-run
bad=${UHCA_BUILDDIR:?}/tests/verbs/sanitize/bad
good=$UHCA_BUILDDIR/tests/verbs/sanitize/good
here=$UHCA_BUILDDIR/tests/verbs/sanitize
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
export TMPDIR=$out
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
failed=0

# try STATUS WHAT COMMAND...: the command's status; what it printed is in $out/said.
try() {
	local want=$1 what=$2 status
	shift 2
	timeout -k 2 240 "$@" >"$out/said" 2>&1
	status=$?
	[ $status = "$want" ] || complain "$what: status $status, not $want: $(cat "$out/said")"
}

complain() {
	echo "$*"
	failed=1
}

says() { # WHAT WORDS
	grep -qF -e "$2" "$out/said" || complain "$1: '$2' is not in: $(cat "$out/said")"
}

silent() { # WHAT
	! grep -q ERROR "$out/said" || complain "$1: told all the same: $(cat "$out/said")"
}

inside() {
	try 99 "a finding" "$run" --sanitize -- "$bad/buffers/send-changed"
	says "a finding" "SUMMARY: uhca-sanitizer: send-changed"
	try 3 "the command's own status" "$run" --sanitize -- sh -c 'exit 3'
	says "the command's own status" "found nothing. Next, by symptom:"
	[ "$(grep -A1 'by symptom' "$out/said" | tail -n 1 | cut -c3-18)" = "a completion has" ] ||
		complain "the likely symptom is not the first: $(cat "$out/said")"
	try 139 "a crash" "$run" --sanitize -- sh -c 'kill -SEGV $$'
	grep -A1 'by symptom' "$out/said" | grep -q '^  it crashes  .*--keep' ||
		complain "a crash is not the first: $(cat "$out/said")"
	try 124 "a hang" "$run" --sanitize --time-limit 1 -- sleep 30
	grep -A1 'by symptom' "$out/said" | grep -q '^  it hangs  .*--time-limit' ||
		complain "a hang is not the first: $(cat "$out/said")"
	try 0 "no failure" "$run" --sanitize -- true
	! grep -q 'by symptom' "$out/said" || complain "no failure: $(cat "$out/said")"
	try 0 "not asked for" "$run" -- "$bad/buffers/send-changed"
	silent "not asked for"
	try 0 "another check" "$run" --sanitize=key-dead -- "$bad/buffers/send-changed"
	silent "another check"
	try 0 "a check taken out" "$run" --sanitize=sum,-send-changed -- "$bad/buffers/send-changed"
	silent "a check taken out"

	try 7 "an exit code" "$run" --sanitize --sanitize-options exitcode=7 -- \
		"$bad/buffers/send-changed"
	try 5 "the environment" env UHCA_SANITIZE_OPTIONS=exitcode=5 "$run" --sanitize -- \
		"$bad/buffers/send-changed"
	try 99 "halting" "$run" --sanitize --sanitize-options halt_on_error=1 -- \
		sh -c "'$bad/keys/key-access'; echo ended with \$?"
	says "halting" "ended with 99"
	try 99 "the first of two" "$run" --sanitize --sanitize-options first=1 -- \
		"$bad/objects/left-at-exit"
	[ "$(grep -c ERROR "$out/said")" = 1 ] || complain "the first of two: $(cat "$out/said")"
	says "the first of two" "1 more reports were left out"

	debug_files
	suppressions
	unseen
	stock
	try 99 "several processes" "$run" --sanitize -- \
		sh -c "'$bad/buffers/send-changed' & '$bad/keys/key-range' & wait"
	says "several processes" "uhca-sanitizer: send-changed"
	says "several processes" "uhca-sanitizer: key-range"
	try 0 "a fork" "$run" --sanitize -- sh -c "'$good/objects/left-at-exit' & wait"
	interrupted
	names
	files
	of_librdmacm
	calls
	asks
	mistakes
	[ -z "$(ls -d "$out"/uhca-sanitize-* 2>/dev/null)" ] || complain "a folder was left"
}

# given_up STATUS WHAT WORDS COMMAND...: it ends after TIME, and has said this by then; on a busy
# machine it takes longer.
given_up() {
	local want=$1 what=$2 words=$3 time
	shift 3
	for time in 3 6 20; do
		try "$want" "$what" "${@/TIME/$time}"
		! grep -qF -e "$words" "$out/said" || return 0
	done
	says "$what" "$words"
}

# What the threads of such a command wait for is told, by whatever signal, and to whom it comes.
interrupted() {
	local soon=hang_after=0.2
	given_up 124 "a time limit" "is running: it computes or polls" \
		"$run" --sanitize --time-limit TIME --sanitize-options hang_after=30 -- \
		"$bad/hangs/poll-nothing"
	# Of sixteen some are asleep, also where others have the processors.
	echo '#include <time.h>
		#include <unistd.h>
		int main(void)
		{
			for (int i = 0; i < 4; i++)
				fork();
			for (struct timespec t = {0, 1000000};;)
				nanosleep(&t, 0);
		}' | gcc -x c - -o "$out/naps" || complain "gcc is missing, or fails"
	given_up 124 "short sleeps" "computes or polls, and sleeps for 1 ms at a time" \
		"$run" --time-limit TIME -- "$out/naps"
	given_up 124 "timeout(1)" "waits in clock_nanosleep, for " \
		timeout TIME "$run" --sanitize --sanitize-options $soon -- "$here/idle" sleeps 30
	says "timeout(1)" "receives are posted and not polled"
	given_up 124 "repeated sleeps" "computes or polls, and sleeps for 20 ms at a time, for " \
		timeout TIME "$run" --sanitize --sanitize-options $soon -- "$here/idle" naps 30
	given_up 124 "a signal to uhca-run alone" "uhca-run: signal 15; " \
		timeout --foreground TIME "$run" --sanitize -- "$here/idle" sleeps 30
	says "a signal to uhca-run alone" "waits in clock_nanosleep"
	given_up 130 "Ctrl-C" "waits in clock_nanosleep, for " \
		python3 "$UHCA_SRCDIR/tests/verbs/sanitize/interrupt.py" TIME "$run" --sanitize \
		--sanitize-options $soon -- "$here/idle" sleeps 30
}

# A check that cannot see anything here says so, once for all processes.
unseen() {
	local reason="no data breakpoints: perf_event_open(2) is not permitted"
	# shellcheck disable=SC2016 # of the inner shell
	try 0 "unseen" "$UHCA_BUILDDIR/tests/support/refuse" perf_event_open -- \
		"$run" --sanitize -- sh -c '"$0"; "$0"' "$bad/queues/wc-unset"
	[ "$(grep -c "wc-unset did not see reads of struct ibv_wc: $reason" "$out/said")" = 1 ] ||
		complain "unseen: $(cat "$out/said")"
	try 0 "nothing unseen" "$run" --sanitize=key-dead -- "$bad/queues/wc-unset"
	! grep -q 'did not see' "$out/said" || complain "nothing unseen: $(cat "$out/said")"
}

suppress() { # LINE...
	printf '%s\n' "$@" >"$out/suppressions"
	set -- --suppress "$out/suppressions"
	try 0 "suppressed" "$run" --sanitize "$@" -- "$bad/buffers/send-changed"
	silent "suppressed"
}

suppressions() {
	suppress '# known' '' 'send-changed function main'
	suppress '* file send-ch*.c'
	suppress 'key-dead function *' 'send-changed object send-changed'
	says "suppressed" "1 suppressed"
	suppress 'send-changed program send-c*'
	suppress 'send-changed fact *RC?QP* object send-changed function main'
	echo 'send-changed function nobody' >"$out/suppressions"
	try 99 "not suppressed" "$run" --sanitize --suppress "$out/suppressions" -- \
		"$bad/buffers/send-changed"
	echo 'send-changed place main' >"$out/suppressions"
	try 125 "a wrong line" "$run" --sanitize --suppress "$out/suppressions" -- true
	says "a wrong line" "suppressions:1: unknown KIND 'place'; known:"
	echo 'send-changed function main fact *UD?QP*' >"$out/suppressions"
	try 99 "one of two" "$run" --sanitize --suppress "$out/suppressions" -- \
		"$bad/buffers/send-changed"
	echo 'send-changed function main object' >"$out/suppressions"
	try 125 "half a line" "$run" --sanitize --suppress "$out/suppressions" -- true
	says "half a line" "suppressions:1: expected: CHECK KIND PATTERN"
	try 125 "no file" "$run" --sanitize --suppress "$out/none" -- true
}

# What stock programs do is known, and is told where it is asked for: by the name of the program,
# and of its own checks alone.
stock() {
	cp "$bad/objects/object-busy" "$out/cmtime"
	cp "$bad/buffers/send-changed" "$out/qperf"
	try 0 "of a stock program" "$run" --sanitize -- "$out/cmtime"
	[ ! -s "$out/said" ] || complain "of a stock program: $(cat "$out/said")"
	try 99 "another check" "$run" --sanitize -- "$out/qperf"
	try 99 "told all the same" "$run" --sanitize --no-stock-suppressions -- "$out/cmtime"
	says "told all the same" "SUMMARY: uhca-sanitizer: object-busy"
	try 125 "no sanitizer" "$run" --no-stock-suppressions -- true
	says "no sanitizer" "needs --sanitize"
	try 125 "no such file" env UHCA_STOCK_SUPPRESSIONS="$out/none" "$run" --sanitize -- true
}

# A program of C++: its names as its author wrote them, and to be suppressed by either name.
names() {
	cat >"$out/names.cc" <<'END'
#include <infiniband/verbs.h>
namespace demo {
struct device {
	__attribute__((noinline)) ibv_pd *open(ibv_context *context, unsigned) {
		return ibv_alloc_pd(context);
	}
};
}
int main()
{
	ibv_device **list = ibv_get_device_list(nullptr);
	return !list || !list[0] || !demo::device().open(ibv_open_device(list[0]), 1);
}
END
	g++ -g -O1 -o "$out/names" "$out/names.cc" -libverbs || complain "g++ is missing, or fails"
	try 99 "names" "$run" --sanitize=left-at-exit -- "$out/names"
	says "names" "in demo::device::open(ibv_context*, unsigned int) $out/names.cc:5"
	local name
	for name in 'demo::device::open(*' '_ZN4demo6device4openE*'; do
		echo "left-at-exit function $name" >"$out/suppressions"
		try 0 "names" "$run" --sanitize=left-at-exit --suppress "$out/suppressions" -- \
			"$out/names"
		says "names" "1 suppressed"
	done
}

files() {
	try 99 "files" "$run" --sanitize --sanitize-options \
		"text=$out/text:json=$out/json:sarif=$out/sarif" -- "$bad/buffers/send-changed"
	silent "files"
	grep -q 'ERROR: uhca-sanitizer: send-changed' "$out/text" || complain "text: no file"
	python3 - "$out/json" "$out/sarif" <<'END' || complain "json or sarif: not as it should be"
import json, sys
found = json.loads(open(sys.argv[1]).read())
main = [f for f in found["stacks"][0]["frames"] if f.get("function") == "main"][0]
assert found["check"] == "send-changed" and main["file"].endswith("bad/buffers/send-changed.c")
log = json.load(open(sys.argv[2]))
run = log["runs"][0]
result = run["results"][0]
rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
place = result["locations"][0]["physicalLocation"]
assert log["version"] == "2.1.0" and rule["id"] == result["ruleId"] == "send-changed"
assert place["artifactLocation"]["uri"].endswith("sanitize/pair.c")
assert place["region"]["startLine"] > 1 and len(result["stacks"]) == 3
END
}

# The protection domain of rdma_cm_ids is librdmacm's, and no program's.
of_librdmacm() {
	local program=$UHCA_BUILDDIR/tests/verbs/sanitize/cm_left
	try 0 "nothing left of rdma_cm" "$run" --sanitize -- "$program" nothing
	silent "nothing left of rdma_cm"
	try 0 "an id left" "$run" --sanitize -- "$program" id
	silent "an id left"
	try 99 "a queue pair left" "$run" --sanitize -- "$program" qp
	says "a queue pair left" "without destroying a queue pair"
	! grep -q "protection domain" "$out/said" || complain "a domain of librdmacm was told"
}

# The sanitizer makes few calls of the system for a message, none of those that copy memory.
calls() {
	try 0 "calls of the system" "$run" --sanitize -- "$here/calls"
	says "calls of the system" "messages: "
	! grep -q ' 0 short calls' "$out/said" || complain "nothing was counted: $(cat "$out/said")"
}

# What a watching thread says, by hand (emu/abi/sanitize.h): a process that hangs and was told of
# is ended, also when it was long without a processor; one that lives on does not hold up the end.
asks() {
	cat >"$out/asks.py" <<'END'
import json, os, socket, sys, time
def connected():
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ["UHCA_SANITIZE_SOCKET"])
    return s
def say(since):
    hang = {"dir": os.environ["UHCA_DIR"], "since": since, "checks": ["peer-waits"], "qps": []}
    line = {"check": "peer-waits", "pid": os.getpid(), "thread": 1, "program": "asks",
            "what": "by hand", "facts": [], "stacks": [], "hang": hang}
    s = connected()
    s.sendall(json.dumps(line).encode() + b"\n")
    return s.recv(32)
begin = int(time.monotonic() * 1000)
assert say(begin) == b"halt 99\n"
time.sleep(0.3)  # three times hang_after
assert say(begin) == b"halt 99\n"
ready, done = os.pipe()
if os.fork() == 0:
    stays = connected()
    assert say(begin) == b"halt 99\n"
    os.write(done, b"x")
    try:
        while say(begin):
            time.sleep(0.1)
    except OSError:  # the collector has ended
        pass
    os._exit(0)
os.close(done)
os.read(ready, 1)  # the collector ends with the parent, however late the child begins
END
	try 99 "hangs by hand" "$run" --sanitize --sanitize-options \
		halt_on_error=1:hang_after=0.1:first=9 -- python3 "$out/asks.py"
	[ "$(grep -c 'ERROR: uhca-sanitizer: peer-waits' "$out/said")" = 2 ] ||
		complain "hangs by hand: not told once for each process: $(cat "$out/said")"
	! grep -q "Error" "$out/said" || complain "hangs by hand: $(cat "$out/said")"
}

# Debug information is found in files of its own, and no server's library is loaded to look for it.
debug_files() {
	local name=send-changed file=$out/debug
	mkdir -p "$file/.debug"
	objcopy --strip-all --remove-section .note.gnu.build-id "$bad/buffers/$name" "$file/$name"
	try 99 "stripped" env LD_DEBUG=files LD_DEBUG_OUTPUT="$file/loads" \
		"$run" --sanitize -- "$file/$name"
	! grep -q "$name\.c:" "$out/said" || complain "stripped: $(cat "$out/said")"
	grep -q 'file=libdw' "$file"/loads.* || complain "what is loaded is not seen"
	! grep -l 'file=libdebuginfod' "$file"/loads.* || complain "libdebuginfod is loaded"
	objcopy --only-keep-debug "$bad/buffers/$name" "$file/$name.debug"
	try 99 "the program's name" "$run" --sanitize -- "$file/$name"
	says "the program's name" "$name.c:"
	mv "$file/$name.debug" "$file/.debug/other"
	objcopy --add-gnu-debuglink "$file/.debug/other" "$file/$name"
	try 99 "a debug link" "$run" --sanitize -- "$file/$name"
	says "a debug link" "$name.c:"
}

mistakes() {
	try 125 "no such check" "$run" --sanitize=everything -- true
	says "no such check" "unknown check 'everything'"
	try 125 "no such option" "$run" --sanitize --sanitize-options colour=red -- true
	says "no such option" "--sanitize-options: unknown sanitizer option 'colour'"
	try 125 "no number" "$run" --sanitize --sanitize-options first=x -- true
	says "no number" "'first=x' is not first=N, 0 to 1000000"
	try 0 "help" "$run" --sanitize=help
	says "help" "send-changed"
	try 125 "nothing to suppress" "$run" --suppress "$out/none" -- true
	says "nothing to suppress" "need --sanitize"
	try 0 "nobody listens" env UHCA_SANITIZE=sum "$run" -- "$bad/buffers/send-changed"
	says "nobody listens" '"check":"send-changed"'
}

if [ "${1:-}" = --inside ]; then
	inside
	exit $failed
fi
"$run" --private -- "$0" --inside
