# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of rsockets: rcopy, and ordinary socket programs with librspreload.so, which is loaded after
# the library of uhca-run. That the bytes did not go by TCP is seen in the device's counters.

# rcopy has a port of its own, and takes a colon for the end of the host: IPv4 only.
rcopy_complaint() { # ADDRESS
	head -c 3000000 /dev/urandom >"$out/file"
	cm_pair "stays rcopy" "rcopy $out/file $1:$out/copy"
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
	local with program=$here/echo.py
	with=$(rs_preload) || echo "librspreload.so is not installed (librdmacm1)"
	cm_pair "$with python3 $program server $1 $port" "$with python3 $program client $1 $port"
	pair_complaint
	grep -q "1069733 bytes came back" "$out/client" || echo "not all came back"
}

http_complaint() { # ADDRESS HOST-IN-URL
	local with
	with=$(rs_preload) || echo "librspreload.so is not installed (librdmacm1)"
	head -c 3000000 /dev/urandom >"$out/file"
	cm_pair "stays $with python3 -m http.server -d $out -b $1 $port" \
		"$with curl -sS --noproxy * --retry 15 --retry-delay 1 --retry-connrefused
		-o $out/copy http://$2:$port/file"
	[ "$client_status" = 0 ] || echo "curl $(status_words "$client_status"): $(last_words)"
	cmp "$out/file" "$out/copy" 2>&1
}

rs_row() { # NAME LEVEL BYTES PROGRAM COMMAND...
	wanted rsockets "$1" "$2" || return 0
	[ -z "$list_only" ] || { echo "rsockets $1" && return; }
	available rsockets "$1" "$4" || return 0
	next_port
	try rsockets "$1" carries "$3" "${@:5}"
}

rows_rsockets() {
	local a=127.0.0.1
	[ -n "$list_only" ] || a=$(address_of "$UHCA_DIR" "$server_dev")
	rs_row rcopy core 3000000 rcopy rcopy_complaint "$a"
	rs_row preload-echo core 2000000 python3 echo_complaint "$a"
	rs_row preload-echo-ipv6 core 2000000 python3 echo_complaint ::1
	rs_row preload-http core 3000000 curl http_complaint "$a" "$a"
	rs_row preload-http-ipv6 full 3000000 curl http_complaint ::1 "[::1]"
}
