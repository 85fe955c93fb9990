# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of rsockets: rcopy, and ordinary socket programs with librspreload.so, which is loaded after
# the library of uhca-run. It leaves to TCP what it does not know (sockets that are made with
# SOCK_CLOEXEC, as Python's are): that the bytes went by the device is seen in its counters.

# rcopy has a port of its own, and takes a colon for the end of the host.
rcopy_complaint() { # ADDRESS
	local with='' host=$1
	[ "$family" = 4 ] || with="$(ipv6_first "$1") " host=six
	head -c 3000000 /dev/urandom >"$out/file"
	cm_pair "stays ${with}rcopy" "${with}rcopy $out/file $host:$out/copy"
	pair_complaint
	cmp "$out/file" "$out/copy" 2>&1
}

rs_preload() {
	local file
	for file in /usr/lib/*/rsocket/librspreload.so; do
		[ -e "$file" ] && echo "env LD_PRELOAD=$LD_PRELOAD:$file" && return
	done
	echo "no librspreload.so" >&2
	return 1
}

echo_complaint() { # ADDRESS
	local with program=$UHCA_BUILDDIR/tests/verbs/ends/echo
	with=$(rs_preload) || echo "librspreload.so is not installed (librdmacm1)"
	cm_pair "$with $program server $1 $port" "$with $program client $1 $port"
	pair_complaint
	grep -q "^all of [0-9]* bytes came back" "$out/client" || echo "not all came back"
}

rs_row() { # NAME BYTES PROGRAM COMMAND...
	wanted rsockets "$1" core || return 0
	[ -z "$list_only" ] || { echo "rsockets $1" && return; }
	available rsockets "$1" "$3" || return 0
	next_port
	try rsockets "$1" carries "$2" "${@:4}"
}

rows_rsockets() {
	local a=127.0.0.1 a6=::1
	[ -n "$list_only" ] || a=$(address_of "$UHCA_DIR" "$server_dev")
	[ -n "$list_only" ] || a6=$(address6_of "$UHCA_DIR" "$server_dev")
	rs_row rcopy 3000000 rcopy rcopy_complaint "$a"
	local program=$UHCA_BUILDDIR/tests/verbs/ends/echo
	rs_row preload-echo 4000000 "$program" echo_complaint "$a"
	[ "$family" = 4 ] || return 0
	# A device without is said by the rows of rdmacm.
	[ -z "$a6" ] || rs_row preload-echo-ipv6 4000000 "$program" echo_complaint "$a6"
}
