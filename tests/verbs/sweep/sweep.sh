#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2016,SC2317
# uhca-run --sweep: of two programs that treat errors wrongly each wrong path is found by name;
# those that treat them rightly have no finding. A sweep that is interrupted or killed leaves
# nothing, and goes on.
set -u
root=${UHCA_SRCDIR:?}
run=$root/scripts/uhca-run
program=${UHCA_BUILDDIR:?}/tests/verbs/sweep/error_paths
recovers=${program%/*}/event_paths
# shellcheck source=tests/verbs/lib.sh
. "$root/tests/verbs/lib.sh"

out=$(mktemp -d) || exit 99
trap 'rm -rf "$out"' EXIT
mkdir -m 700 "$out/x"
export XDG_RUNTIME_DIR=$out/x
failed=0

wrong() { # WHAT FILE...
	failed=1
	echo "FAIL: $1"
	shift
	tail -n 60 "$@"
}

# sweeps STATUS NAME OPTION... -- COMMAND...: to NAME.txt and NAME.err
sweeps() {
	local want=$1 name=$2
	shift 2
	"$run" "$@" >"$out/$name.txt" 2>"$out/$name.err"
	local status=$?
	[ $status -eq "$want" ] || wrong "$name: status $status" "$out/$name.txt" "$out/$name.err"
}

says() { # NAME TEXT...
	local name=$1 text
	shift
	for text; do
		grep -qF -e "$text" "$out/$name.txt" "$out/$name.err" ||
			wrong "$name does not say: $text" "$out/$name.txt" "$out/$name.err"
	done
}

lacks() { # NAME TEXT
	! grep -qF -e "$2" "$out/$1.txt" || wrong "$1 says: $2" "$out/$1.txt"
}

# ---- what it finds ----

sweeps 1 all --sweep calls --time-limit 4 --junit "$out/all.xml" --html "$out/all.html" \
	--sweep-folder "$out/all" -- "$program" crash,leak,hang,untidy,mute
says all "crash: error_paths: SIGSEGV in ibv_dereg_mr" "make_memory " \
	"leak: error_paths: the process ended without destroying a completion queue" \
	"call/create_qp/1/1/ENOMEM" "make_cq " \
	"leak: error_paths: the process ended without destroying a memory region" \
	"hang: the command did not end within its time limit" "call/post_send/1/1/ENOMEM" \
	"note: without a word failed at"
grep -A 8 '^hang: ' "$out/all.txt" | grep -qE '#[1-9] main ' ||
	wrong "the stack of the hang" "$out/all.txt"
grep -A 1 'name="call/reg_mr/1/1/ENOMEM"' "$out/all.xml" | grep -q '<failure type="crash"' ||
	wrong "the JUnit file" "$out/all.xml"
grep -q '<code>call/post_send/1/1/ENOMEM</code>' "$out/all.html" || wrong "the page" "$out/all.html"
grep -q SIGSEGV "$out/all/call.reg_mr.1.1.ENOMEM.txt" || wrong "the kept output" "$out/all.txt"

# All of it is accepted: the results are there, no run is made again.
cat >"$out/known" <<'END'
crash  call/reg_mr/*      make_memory   # a pattern of a frame
leak   call/create_qp/*   *completion?queue
leak   *
hang   *
passed call/none/*
END
sweeps 0 known --sweep calls --time-limit 4 --known "$out/known" --sweep-folder "$out/all" \
	-- "$program" crash,leak,hang,untidy,mute
says known "0 findings, and " "15 runs were made before" "known crash:" \
	"line 5 applies to nothing: passed call/none/*"

# Completions: an error status that is not looked at is a run that ended well.
sweeps 1 blind --sweep completions --sweep-only '*/RECV/*' -- "$program" blind
says blind "passed: RECV of error_paths has an error status (6 runs)" "RECV/1/1/WR_FLUSH_ERR"

# What the device does at a moment, and packets: the right program survives, or says why it fails.
sweeps 0 rest --sweep events,packets,device --sweep-jobs 4 --time-limit 60 \
	--sweep-only '@(packet/*|device/create_qp/*|event/*/QP_FATAL)' \
	-- "$program" right
says rest "0 findings" "0 found something"

# A program that recovers: it leaves objects, does not arm its queue again, keeps an event.
sweeps 0 recovers --sweep completions,events --time-limit 60 \
	--sweep-only '@(completion/RECV/1/*|event/modify_qp/*/QP_*)' -- "$recovers" right
says recovers "0 ended with an error, 22 went on well" "0 findings"
sweeps 1 leaves --sweep completions --time-limit 60 \
	--sweep-only 'completion/SEND/1/1/RETRY_EXC_ERR' -- "$recovers" leak
says leaves "leak: event_paths: the process ended without destroying a queue pair" "open_all "
sweeps 1 waits --sweep completions --time-limit 4 \
	--sweep-only 'completion/RECV/1/1/WR_FLUSH_ERR' -- "$recovers" hang
says waits "hang: the command did not end within its time limit" "#0 __poll "
sweeps 1 keeps --sweep events --time-limit 4 --sweep-only 'event/modify_qp/*/QP_FATAL' \
	-- "$recovers" keep
says keeps "hang: the command did not end within its time limit" "#0 destroy_qp "

# ---- one of them again ----

sweeps 99 again --keep "$out/kept" --sweep-repeat call/reg_mr/1/1/ENOMEM -- "$program" crash
says again "the 1st reg_mr of client 1 fails with ENOMEM" "rule 1 fires (call): reg_mr" \
	"SIGSEGV in ibv_dereg_mr" "Call that failed at"
[ -s "$out/kept/call.reg_mr.1.1.ENOMEM/run/report.html" ] ||
	wrong "no report.html" "$out/again.txt"

# ---- interrupted ----

# What of this script's runs is there: processes, and folders of instances.
left() {
	local ours="^XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR\$"
	grep -lzs "$ours" /proc/[0-9]*/environ | while read -r file; do
		read -r pid name _ 2>/dev/null <"${file%environ}stat" || continue
		[ "$pid" = $$ ] || case $name in
		'(error_paths)' | '(event_paths)' | '(uhcad)' | '(uhca-'*')' | '(sleep)')
			echo "$name"
			;;
		esac
	done
	ls "$XDG_RUNTIME_DIR"
}
nothing_left() {
	[ -z "$(left)" ]
}
has_results() { # FOLDER N
	[ "$(wc -l 2>/dev/null <"$1/results.jsonl" || echo 0)" -gt "$2" ]
}

until_true nothing_left || wrong "something is left: $(left)" "$out/all.err"
# The command leaves a process behind in each run, too.
half=(--sweep calls --time-limit 60 --sweep-folder "$out/half" --junit "$out/half.xml" --
	sh -c 'setsid sleep 1000 & exec "$1" right' sh "$program")
"$run" "${half[@]}" >"$out/half.txt" 2>"$out/half.err" &
until_true has_results "$out/half" 3 || wrong "no results came" "$out/half.err"
kill -INT $! && wait $!
[ $? -eq 130 ] || wrong "interrupted: the status is not 130" "$out/half.txt"
says half "; interrupted"
until_true nothing_left || wrong "after SIGINT is left: $(left)" "$out/half.err"

"$run" "${half[@]}" >"$out/half.txt" 2>"$out/half.err" &
until_true has_results "$out/half" 8 || wrong "no results came" "$out/half.err"
kill -KILL $!
wait $! 2>/dev/null
# Another one removes the folder of the one that was killed, when its runs have ended.
nothing_left_by_another() {
	"$run" --private -- true
	nothing_left
}
until_true nothing_left_by_another || wrong "after SIGKILL is left: $(left)" "$out/half.err"
sweeps 0 half "${half[@]}"
says half "15 of 15 runs" "runs were made before" "0 findings" "0 found something"
lacks half "note:"
grep -q '<testsuite name="sweep" tests="15" failures="0"' "$out/half.xml" ||
	wrong "the JUnit file" "$out/half.xml"
until_true nothing_left || wrong "in the end is left: $(left)" "$out/half.err"

# ---- what is refused ----

sweeps 125 cals --sweep cals -- true
says cals "unknown thing to sweep 'cals': did you mean 'calls'?"
sweeps 125 other --sweep calls --sweep-folder "$out/half" -- "$program" leak
says other "it has the results of another command or sweep"
sweeps 2 none --sweep calls --sweep-only 'call/none/*' -- "$program" right
says none "no run is left"
sweeps 2 unfit --sweep calls -- false
says unfit "the command ends with status 1 without any fault"
! grep -q 'rule 1 fired' "$out/unfit.err" ||
	wrong "the rules that only count are reported" "$out/unfit.err"
sweeps 2 idle --sweep calls -- true
says idle "it made no use of the device"
sweeps 125 repeat --sweep-repeat call/reg_mr/1/1/ENOMM -- true
says repeat "unknown errno 'ENOMM': did you mean 'ENOMEM'?"
echo 'crush *' >"$out/known"
sweeps 125 file --sweep calls --known "$out/known" -- true
says file "line 1: unknown finding 'crush': did you mean 'crash'?"

# ---- the table of errno values ----

"$run" --sweep help >"$out/table" || wrong "--sweep help" "$out/table"
errnos='\bE(INVAL|NOMEM|PERM|NXIO|FAULT|OPNOTSUPP|NODEV|NODATA|ADDRNOTAVAIL|ISCONN|BUSY)\b'
while read -r call page listed values; do
	name=${page%(*} section=${page#*\(}
	file=/usr/share/man/man${section%)}/$name.${section%)}.gz
	[ -e "$file" ] || continue
	text=$(zcat "$file")
	if [ "$listed" = listed ]; then
		for value in $values; do
			grep -q "\b$value\b" <<<"$text" ||
				wrong "$page has no $value ($call)" /dev/null
		done
	elif grep -qE "$errnos" <<<"$text"; then
		wrong "$page lists values, and the table of $call does not say so" /dev/null
	fi
done <"$out/table"

[ $failed -eq 0 ] && echo "all is well"
exit $failed
