# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Machinery of the real-client rows: run two programs against each other, wait for conditions with
# deadlines, look at what they printed. A row prints one line:
#
#   ok   VARIANT GROUP NAME (seconds)
#   FAIL VARIANT GROUP NAME: reason (kept in FOLDER)
#   skip VARIANT GROUP NAME: reason       (never in CI: there it is FAIL)
#
# Sourced by tests/verbs/clients, which sets the variables of the variant.

# shellcheck source=tests/verbs/evidence.sh
. "$root/tests/verbs/evidence.sh"

variant=internal      # name of the arrangement
level=full            # core: rows marked core, program: those and rows marked program, full: all
family=4              # 6: the devices have IPv6 addresses only
server_run=()         # put before the server's command
client_run=()         # put before the client's
run_options=()        # of the uhca-run of own_program
server_dev=uhca0
client_dev=uhca0
server_host=127.0.0.1 # where the client finds the server by TCP
gid=0
reliable=1            # 0: the network loses packets, only RC can be asked for
limit=${UHCA_ROW_SECONDS:-180} # a machine may be busy with others: this is for what hangs
port=$((12000 + $$ * 131 % 20000)) # others may test on this machine, too
select_rows=()        # words to be found in "group name"; empty: all
list_only=
row_failed=0
anew=                 # what the sanitizer has found in the last row
out=                  # folder for the programs' output

# shellcheck source=tests/verbs/wait.sh
. "$(dirname "${BASH_SOURCE[0]}")/wait.sh"

# What no program says when all is well.
bad_words="mismatch|invalid data|couldn't|failed|unable to|cannot|error|not supported|timed out"

wanted() { # GROUP NAME [core|program]
	[ "$level" = full ] || [ "${3:-}" = core ] || [ "$level" = "${3:-}" ] || return 1
	[ ${#select_rows[@]} -gt 0 ] || return 0
	local word
	for word in "${select_rows[@]}"; do
		# shellcheck disable=SC2053 # a pattern
		[[ "$1 $2" = *@($word)* ]] || return 1
	done
}

pass() { # GROUP NAME SECONDS; what a row wrote to $out/note is said, too
	local note=
	[ ! -s "$out/note" ] || note=$(<"$out/note")
	printf 'ok   %s %s %s (%s s%s)\n' "$variant" "$1" "$2" "$3" "${note:+, $note}"
}

fail() { # GROUP NAME REASON
	local folder
	folder=$(keep_evidence "$variant-$1-$2" "$3")
	printf 'FAIL %s %s %s: %s%s\n' "$variant" "$1" "$2" "$3" "${folder:+ (kept in $folder)}"
	row_failed=1
	[ -z "${UHCA_VERBOSE:-}" ] || sed 's/^/     | /' "$out"/* 2>/dev/null
}

skip() { # GROUP NAME REASON
	if [ "${CI:-}" = true ]; then
		fail "$1" "$2" "$3 (in CI that is a failure)"
	else
		printf 'skip %s %s %s: %s\n' "$variant" "$1" "$2" "$3"
	fi
}

# available GROUP NAME PROGRAM: says why not.
available() {
	command -v "$3" >/dev/null 2>&1 && return 0
	skip "$1" "$2" "$3 is not installed (scripts/deps --install clients)"
	return 1
}

# Called for each row: it sets a variable, for $( ) is a process.
seconds_since() { # MS; sets seconds
	local now
	now_ms
	printf -v seconds '%d.%02d' $(((now - $1) / 1000)) $(((now - $1) % 1000 / 10))
}

# Does somebody listen on this TCP port, as the process's child, or without one itself, sees the
# network? Each look costs the kernel some milliseconds.
is_listening() { # PID PORT
	local hex child table sockets line
	printf -v hex ':%04X 0' "$2"
	child_of "$1"
	for table in tcp tcp6; do
		{ mapfile -t sockets <"/proc/${child:-$1}/net/$table"; } 2>/dev/null || continue
		for line in "${sockets[@]}"; do
			[[ $line != *"$hex"*" 0A "* ]] || return 0
		done
	done
	return 1
}

listens_or_is_gone() { # PID PORT
	is_listening "$1" "$2" || is_gone "$1"
}

# Addresses for two daemons. Not 127.0.0.1, by which rdma_cm in the other one would mean itself.
# Sets first and second.
pick_addresses() {
	local block=127.1.$(($$ % 250))
	first=$block.1 second=$block.2
}

# From here on programs of perftest run with a hasty clock.
hasten_perftest() {
	"$root/tests/support/hasty" --path "$out/hasty" && PATH=$out/hasty:$PATH
}

next_port() {
	port=$((port + 1))
}

# It may wait for its client as long as until_true lets it: the row's time is the client's.
start_server() { # COMMAND...; sets server_pid
	# What the one before it said must not be taken for its words.
	: >"$out/server"
	timeout -k 2 $((limit + 20)) "${server_run[@]}" "$@" >"$out/server" 2>&1 </dev/null &
	server_pid=$!
}

# With its whole process group: timeout(1) that is told to end just when it forks, does not know yet
# whom to end, and leaves a server behind.
stop_server() {
	kill -- "-$server_pid" 2>/dev/null || kill "$server_pid" 2>/dev/null
}

# SERVER-COMMAND CLIENT-COMMAND (strings, split at spaces): both run to their end; sets
# server_status and client_status.
run_pair_once() {
	local server client
	read -r -a server <<<"$1"
	read -r -a client <<<"$2"
	: >"$out/client"
	printf '%s\n' "server: ${server_run[*]} $1" "client: ${client_run[*]} $2" >"$out/commands"
	start_server "${server[@]}"
	until_true listens_or_is_gone "$server_pid" "$port"
	timeout -k 2 "$limit" "${client_run[@]}" "${client[@]}" >"$out/client" 2>&1 </dev/null
	client_status=$?
	# A server whose client failed waits for ever: it gets a moment, not the row's whole time.
	[ $client_status = 0 ] || within 3 is_gone "$server_pid" || kill "$server_pid"
	wait "$server_pid"
	server_status=$?
	echo "status: server $server_status, client $client_status" >>"$out/commands"
}

status_words() {
	local where=
	case $1 in
	124 | 137) echo "ran into its time limit" ;;
	132 | 13[569])
		where=$(last_crashes)
		echo "ended with $1${where:+ (last crashes here: $where)}"
		;;
	*) echo "ended with $1" ;;
	esac
}

# Does a side say what matches? Without a process, for it is asked of each row; letters of either
# case are one where CASE is "i".
pair_says() { # CASE REGEX
	local said=() status
	{ mapfile -d '' -t said <"$out/server"; } 2>/dev/null
	{ mapfile -d '' -t -O ${#said[@]} said <"$out/client"; } 2>/dev/null
	[ "$1" != i ] || shopt -s nocasematch
	[[ ${said[*]} =~ $2 ]]
	status=$?
	shopt -u nocasematch
	return $status
}

# Reasons why a pair did not do what it should; nothing when it did.
pair_complaint() {
	local where ends=
	[ "$client_status$server_status" != 00 ] || pair_says i "$bad_words" || return 0
	[ "$client_status" = 0 ] ||
		ends="; client $(status_words "$client_status"): $(words_of "$out/client")"
	[ "$server_status" = 0 ] ||
		ends+="; server $(status_words "$server_status"): $(words_of "$out/server")"
	[ -z "$ends" ] || { echo "${ends#; }" && return; }
	# What ibv_devinfo says of a capability that is not there is no complaint.
	where=$(grep -ihE "$bad_words" "$out/server" "$out/client") &&
		where=$(grep -viE "(timestamp|clock|matching|odp).*not supported|NO SUPPORT" \
			<<<"$where" | head -n 1)
	[ -z "$where" ] || echo "it said: ${where:0:100}"
}

# rping's client closes its event channel while its thread may be on the way to the next look at it,
# behind the last event there is: the thread says so, and ends the program, when it comes before the
# end of main() (seen in a trace: ten system calls of main() between two of the thread).
closed_under_its_thread() {
	[ "$client_status" = 255 ] && grep -q "^client DISCONNECT EVENT" "$out/client" &&
		grep -q "^rdma_get_cm_event: Bad file descriptor" "$out/client" &&
		echo "it closed its channel under its thread: begun anew" >>"$out/commands"
}

# What a program says of its failure: the first lines with a word for it, or its last line.
words_of() { # FILE
	local words
	words=$(grep -aiE "$bad_words|EVENT_" "$1" | head -n 3 | tr '\n' ' ')
	[ -n "$words" ] || words=$(grep -av '^[ *-]*$' "$1" | tail -n 1)
	echo "${words:0:150}"
}

last_words() {
	cat "$out/client" "$out/server" | grep -v '^[ -]*$' | tail -n 1 | cut -c 1-100
}

# One side ended well, and the other had no answer any more (IBV_WC_RETRY_EXC_ERR, which the tests
# of latency tell by its number).
one_was_left() {
	local had_no_answer="transport retry counter exceeded|Failed status 12:"
	if [ "$client_status" = 0 ]; then
		grep -qE "$had_no_answer" "$out/server"
	else
		[ "$server_status" = 0 ] && grep -qE "$had_no_answer" "$out/client"
	fi
}

# perftest 4.5 with -e waits for "an event", polls the queue whose completion it thinks is next, and
# reads a completion that it did not get when, after a loss, the other queue's came first: the
# status it tells of then is none.
looked_at_nothing() {
	grep -qE "Failed status [0-9]{3,}" "$out/client" "$out/server"
}

# perftest learns how long a cycle is from 200 looks at two clocks. When it loses the processor
# between the two, once is enough, it says so, behind a line of its table or on one of its own, goes
# on with 0, prints times of "inf" or, of a bandwidth, no report at all.
lost_its_clock() {
	pair_says - $'Correlation coefficient r\\^2: [^\n]* < 0.9'
}

# libfabric's ofi_rxm 1.17 destroys its queue pair when it hears that the peer has disconnected,
# before it looks at the completions of what came earlier, and tells fi_pingpong that they are
# flushed. The device lets a disconnect wait for what is in the queue (emu/core/cm/cm_reader.c), but
# not for ever; one in three ends so, or hangs, where a rule has completions come late
# (cqe.delay=1ms jitter=10ms).
was_flushed_early() {
	grep -q "cq_readerr: Work Request Flushed Error" "$out/client" "$out/server" &&
		grep -qE "^[0-9]+[km]? .*=[0-9]+ " "$out/client"
}

# Must the pair run again? Only for what is no fault of the device: where packets get lost, so may
# the last acknowledgement: one side has what it wants and goes, and nobody is left to repeat it.
# That is the protocol's nature. Often so with ibv_srq_pingpong: it counts the messages of 16 queue
# pairs together, and goes when it has had enough, whatever is under way on some of them.
deserves_another() { # SERVER-COMMAND
	[[ $1 = *ib_* ]] && lost_its_clock && return
	[[ $1 = *ofi_rxm* ]] && was_flushed_early && return
	[ "$reliable" = 0 ] && { one_was_left || looked_at_nothing; }
}

# run_pair SERVER-COMMAND CLIENT-COMMAND: as run_pair_once, and again while it must.
run_pair() {
	local again=0 most=5
	[ "$reliable" = 1 ] || most=40
	run_pair_once "$@"
	while [ $again -lt $most ] && deserves_another "$1"; do
		run_pair_once "$@"
		again=$((again + 1))
	done
}

# The programs of XRC keep files of a fixed name, which another user's run cannot open: one pair at
# a time, which leaves none.
begin_alone() { # COMMAND (a string); sets alone_fd
	alone_fd=
	[[ $1 =~ XRC|xsrq ]] || return 0
	exec {alone_fd}<"${UHCA_LOCK:-/dev/null}"
	flock "$alone_fd"
}

end_alone() {
	[ -n "$alone_fd" ] || return 0
	rm -f /tmp/xrc_domain /tmp/xrc_domain_client /tmp/xrc_domain_server
	flock -u "$alone_fd" # programs that are still there have it, too
	exec {alone_fd}<&-
}

# Where the rows are sanitized (clients -s): what was found since the row before; sets anew. What a
# process has left is told when it is gone, which may be a moment after the row.
found_lines=0
find_anew() {
	local before=$found_lines
	anew=
	[ -n "${UHCA_SANITIZE_FOUND:-}" ] || return 0
	found_lines=$(wc -l <"$UHCA_SANITIZE_FOUND")
	[ "$found_lines" != "$before" ] || return 0
	tail -n +$((before + 1)) "$UHCA_SANITIZE_FOUND" >"$out/found"
	anew=$(sed -n 's/^SUMMARY: uhca-sanitizer: //p' "$out/found" | sort -u)
	anew=${anew//$'\n'/; }
}

# row GROUP NAME CHECK SERVER CLIENT: CHECK is a command that prints what is wrong with the
# output, and nothing when it is right.
row() {
	local group=$1 name=$2 check=$3 now begin seconds complaint
	begin_evidence
	begin_alone "$4"
	now_ms
	begin=$now
	run_pair "$4" "$5"
	end_alone
	pair_complaint >"$out/complaint"
	[ -s "$out/complaint" ] || $check >"$out/complaint"
	find_anew
	if [ ! -s "$out/complaint" ] && [ -z "$anew" ]; then
		seconds_since "$begin"
		pass "$group" "$name" "$seconds"
	else
		complaint=$(<"$out/complaint")
		fail "$group" "$name" "${complaint:-$anew}"
	fi
}

# try GROUP NAME FUNCTION...: the function prints what is wrong, and nothing when all is well.
try() {
	local group=$1 name=$2 now begin seconds complaint
	shift 2
	wanted "$group" "$name" core || return 0
	[ -z "$list_only" ] || { echo "$group $name: $*" && return; }
	begin_evidence
	now_ms
	begin=$now
	find "$out" -maxdepth 1 -type f -delete
	complaint=$("$@" 2>"$out/errors")
	find_anew
	complaint=${complaint:-$anew}
	if [ -z "$complaint" ]; then
		seconds_since "$begin"
		pass "$group" "$name" "$seconds"
	else
		fail "$group" "$name" "${complaint//$'\n'/; }"
	fi
}

# The one child of a process (the command that a uhca-run runs): the newest.
child_of() { # PID; sets child, to nothing when there is none
	child=
	{ read -r child <"/proc/$1/task/$1/children"; } 2>/dev/null
	child=${child% }
	child=${child##* }
}

# Programs of tests/verbs that report by themselves, in an instance that begins with them and is
# made with run_options.
own_program() { # PROGRAM (below tests/) ARGUMENT...
	timeout -k 2 240 "$uhca_run" --private "${run_options[@]}" -- \
		"$UHCA_BUILDDIR/tests/$1" "${@:2}" >"$out/said" 2>&1 </dev/null ||
		echo "ended with $?: $(tail -n 2 "$out/said")"
}

# Bytes that the devices of the instance have received so far; packets without payload count, too.
carried() {
	"$UHCA_BUILDDIR/uhcactl" counters | awk '
		/^rx_(bytes|packets) / { for (i = 2; i <= NF; i++) n += $i }
		END { printf "%.0f\n", n }'
}

# carries BYTES COMMAND...: what the command complains of, and that it did not go by the device.
carries() {
	local before
	before=$(carried)
	"${@:2}"
	[ $(($(carried) - before)) -ge "$1" ] ||
		echo "the device carried $(($(carried) - before)) bytes, not $1"
}

# The server has written a line that matches, or has ended.
server_says() { # PATTERN
	grep -qE "$1" "$out/server" || is_gone "$server_pid"
}

# The tree may lie where nobody cannot look: what is needed of it is copied.
copy_tree() { # FOLDER
	mkdir -p "$1/build" "$1/tests/support" "$1/scripts" && chmod 755 "$1" || return 1
	cp "$root/scripts/uhca-run" "$1/scripts/"
	cp "$root/tests/support/"{pinning,hasty,read-kept} "$1/tests/support/"
	cp -r "$root/tests/verbs" "$1/tests/"
	cp "$UHCA_BUILDDIR"/uhca{-run,d,ctl,-sanitizer} "$1/build/"
	mkdir -p "$1/build/.libs" "$1/build/provider" "$1/build/tests/examples"
	cp "$UHCA_BUILDDIR/provider/asan-runtime" "$1/build/provider/"
	find "$UHCA_BUILDDIR" \( -name libuhca_preload.so -o -name 'libuhca-rdmav*.so' \
		-o -name libuhca.so.0 \) -path '*/.libs/*' -exec cp {} "$1/build/.libs/" \;
	mkdir -p "$1/build/tests/verbs/ends" "$1/build/tests/support/.libs"
	cp "$UHCA_BUILDDIR/tests/support/.libs/"hasty_{clock,symbols}.so \
		"$1/build/tests/support/.libs/"
	mkdir -p "$1/docs/reference/sanitizer" "$1/emu/abi"
	cp "$root/emu/abi/checks.h" "$1/emu/abi/"
	cp "$root/docs/reference/libfabric.md" "$1/docs/"
	cp "$root/docs/reference/sanitizer/stock.supp" "$1/docs/reference/sanitizer/"
	cp "$UHCA_BUILDDIR/tests/verbs/ends/"{echo,fi_rma} "$1/build/tests/verbs/ends/"
	cp -r "$UHCA_BUILDDIR/tests/verbs/sanitize" "$1/build/tests/verbs/"
	find "$UHCA_BUILDDIR/tests/examples/.libs" -type f -executable \
		-exec cp {} "$1/build/tests/examples/" \;
	chmod -R a+rX "$1"
}
