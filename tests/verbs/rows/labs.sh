# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of the labs: each solution passes its check; each program as handed out fails it and is told
# what is missing; wrong uses are named. (Wrong answers: tests/verbs/labs/answers.py.)

lab=$here/../../scripts/lab
lab_texts=$here/../../docs/tutorials/labs

# run_lab NAME COMMAND...: its output in $out/said; sets status.
run_lab() {
	export UHCA_LAB_DIR=$out/lab-$1
	timeout -k 2 "$limit" "$lab" "$@" >"$out/said" 2>&1 </dev/null
	status=$?
}

# says_lab STATUS WORDS: how it ended, and a line of what it said.
says_lab() {
	[ "$status" = "$1" ] || echo "it $(status_words "$status"), not with $1"
	grep -qF -e "$2" "$out/said" || echo "it does not say '$2': $(tail -n 1 "$out/said")"
}

# as_handed_out NAME WORDS: start, check; the first line says what is missing.
as_handed_out() {
	rm -rf "$out/lab-$1"
	run_lab "$1" start
	says_lab 0 "scripts/lab $1 check"
	run_lab "$1" check
	says_lab 1 "lab $1: not yet"
	[[ $(head -n 1 "$out/said") = "not yet: $2"* ]] ||
		echo "the first line is not '$2': $(head -n 1 "$out/said")"
}

# Labs on a modelled network have no fault rule for the ladder to name.
solved() { # NAME
	local drawn="ACK psn"
	! grep -q "^fault " "$lab_texts/$1/$1.scn" || drawn="rule 1"
	run_lab "$1" check "$lab_texts/$1/solution.c"
	says_lab 0 "lab $1: done"
	run_lab "$1" ladder
	says_lab 0 "$drawn"
	run_lab "$1" report
	says_lab 0 "The last run as a page: $out/lab-$1/report.html"
	grep -q "^<!DOCTYPE html>" "$out/lab-$1/report.html" || echo "there is no page"
}

lab_complaint() { # NAME WORDS
	as_handed_out "$@"
	solved "$1"
}

mistakes_of_use_complaint() {
	local dir=$out/mistakes
	rm -rf "$out"/lab-*
	mkdir -p "$dir"
	run_lab keys start "$dir"
	says_lab 0 "Then: scripts/lab keys check $dir/exercise.c"
	run_lab keys start "$dir"
	says_lab 2 "already exists; not overwritten"
	run_lab keys check "$dir/no-such-file.c"
	says_lab 2 "no file $dir/no-such-file.c"
	run_lab keys ladder
	says_lab 2 "no run in"
	run_lab keys report
	says_lab 2 "no run in"
	run_lab nothing
	says_lab 2 "unknown lab 'nothing'; known: rc-write, lost-ack"
	run_lab keys open
	says_lab 2 "unknown command 'open'"
	run_lab keys check a b
	says_lab 2 "check takes one argument, not 2"
	run_lab --page
	says_lab 2 "--page needs the name of a lab"
	run_lab --page keys --pord 1
	says_lab 2 "unknown option --pord of --page"
	run_lab --page nothing
	says_lab 2 "unknown lab 'nothing'"
	run_lab --nonsense
	says_lab 2 "unknown option --nonsense"
	echo 'int main(void) { return 0 }' >"$dir/broken.c"
	run_lab keys check "$dir/broken.c"
	says_lab 1 "broken.c does not compile"
	says_lab 1 "error: expected"
	echo 'int main(void) { return 3; }' >"$dir/other.c"
	run_lab keys check "$dir/other.c"
	says_lab 1 "not yet: the program did not end as it should"
	echo '#include "lab.h"' >"$dir/crash.c"
	echo 'int main(void) { __builtin_trap(); }' >>"$dir/crash.c"
	run_lab keys check "$dir/crash.c"
	says_lab 1 ", at crash.c:2, in main: int main(void) { __builtin_trap(); }"
	echo 'int main(void) { for (;;) ; }' >"$dir/endless.c"
	UHCA_LAB_SECONDS=1 run_lab keys check "$dir/endless.c"
	says_lab 1 "did not end in 1 s: it still runs, at endless.c:1, in main: int main(void)"
	CC=no-such-compiler run_lab keys check "$dir/exercise.c"
	says_lab 125 "no compiler no-such-compiler found"
}

# A tree in which nothing was built.
unbuilt_complaint() {
	mkdir -p "$out/tree/scripts" "$out/tree/docs"
	cp "$lab" "$out/tree/scripts"
	cp -r "$lab_texts" "$out/tree/docs"
	(cd "$out/tree" && env -u UHCA_BUILDDIR scripts/lab rnr check) >"$out/said" 2>&1
	status=$?
	says_lab 125 "uhca is not built"
}

# The exercise has each task of the solution, and no marks of it.
holds_its_tasks() { # EXERCISE SOLUTION
	local tasks
	tasks=$(grep -c 'End of task' "$2")
	[ "$tasks" -ge 2 ] && [ "$(grep -c '/\* Task [0-9]: your code\. \*/$' "$1")" = "$tasks" ] ||
		echo "$1: not all of $tasks tasks are marked"
	! grep -E 'Until then|End of task' "$1" || echo "$1 has marks of the solution"
}

texts_complaint() {
	local name
	rm -rf "$out"/lab-*
	run_lab --help
	says_lab 0 "Guided labs"
	timeout "$limit" "$lab" >"$out/list" || echo "the list ended with $?"
	for name in rc-write lost-ack rnr atomics keys windows connection congestion incast \
		ecmp victim cm-by-hand find-the-bug; do
		grep -qE "^$name +[A-Z].*" "$out/list" || echo "$name is not in the list"
		run_lab "$name"
		says_lab 0 "Next: scripts/lab $name start"
		says_lab 0 "# Lab $name: "
		run_lab "$name" solution
		[ -f "$(cat "$out/said")" ] || echo "$name has no solution"
		run_lab "$name" start
		holds_its_tasks "$out/lab-$name/exercise.c" "$lab_texts/$name/solution.c"
	done
}

rows_labs() {
	try labs rc-write lab_complaint rc-write "task 1: an RDMA WRITE was posted"
	try labs lost-ack lab_complaint lost-ack "task 1: message 3 is acknowledged (completion: t"
	try labs rnr lab_complaint rnr "task 1: message 4 was taken (completion: RNR retry"
	try labs atomics lab_complaint atomics "task 1: the increment is posted"
	try labs keys lab_complaint keys "task 1: the peer may write (remote access error)"
	try labs windows lab_complaint windows "task 1: the binding was posted"
	try labs connection lab_complaint connection "task 1: connected after 1 tries"
	try labs congestion lab_complaint congestion "task 1: all notifications were counted"
	try labs incast lab_complaint incast "task 1: in round 1 most marks are of no port"
	try labs ecmp lab_complaint ecmp "task 1: label 0x00001: source port 0x0001"
	try labs victim lab_complaint victim "task 1: the pauses of leaf0 begin at leaf0"
	try labs cm-by-hand lab_complaint cm-by-hand "task 1: the route is known"
	try labs find-the-bug lab_complaint find-the-bug "program 1: the word is in the peer"
	try labs mistakes mistakes_of_use_complaint
	try labs unbuilt unbuilt_complaint
	try labs texts texts_complaint
}
