# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of fio's engine "rdma". Its server verifies what it receives by SEND; what comes by RDMA
# WRITE, or is fetched by RDMA READ, fio does not look at. IPv4 only: the engine knows no other.

# A client that outruns the server's receives stops for ever: the server has room for all blocks.
# Its client says 0 when it was refused, too: it begins when the server waits.
fio_pair() { # VERB CLIENT-ARGUMENT...
	local common=(--ioengine=rdma --port="$port" --bs=64k --size=8m)
	common+=(--verify_state_save=0 --thread)
	start_server stdbuf -oL fio --name=server "${common[@]}" --rw=read --iodepth=128 \
		--verify=crc32c --verify_fatal=1
	until_true server_says "waiting for connection" || echo "the server does not wait"
	timeout -k 2 "$limit" fio --name=client "${common[@]}" --rw=write --verb="$1" --iodepth=8 \
		--hostname="$server_addr" "${@:2}" >"$out/client" 2>&1 </dev/null
	client_status=$?
	[ $client_status = 0 ] || within 3 is_gone "$server_pid" || kill "$server_pid"
	wait "$server_pid"
	server_status=$?
}

fio_verified() { # VERB
	fio_pair "$1" --verify=crc32c --do_verify=0
	pair_complaint
	grep -q "issued rwts: total=0,128," "$out/client" || echo "not 128 blocks"
	[ "$1" != send ] || grep -q "issued rwts: total=128," "$out/server" ||
		echo "the server did not verify 128 blocks"
}

# Blocks without fio's headers: the server must notice, or the rows above prove nothing.
fio_notices() {
	local limit=4 # its client waits for ever after its first error
	fio_pair send
	[ "$server_status" != 0 ] || echo "the server took blocks that cannot be verified"
	grep -q "verify: bad" "$out/server" || echo "it did not say: verify"
}

fio_row() { # NAME LEVEL COMMAND...
	wanted fio "$1" "$2" || return 0
	[ -z "$list_only" ] || { echo "fio $1" && return; }
	available fio "$1" fio || return 0
	next_port
	try fio "$1" "${@:3}"
}

rows_fio() {
	[ "$family" = 4 ] || return 0 # the engine has room for an IPv4 address only
	local server_addr=127.0.0.1
	[ -n "$list_only" ] || server_addr=$(address_of "$UHCA_DIR" "$server_dev")
	fio_row send-verified core carries 8388608 fio_verified send
	fio_row write core carries 8388608 fio_verified write
	fio_row read core carries 8388608 fio_verified read
	fio_row send-not-verifiable full fio_notices
}
