# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of iSCSI over RDMA (iSER): the target tgtd of the package tgt, and libiscsi as initiator, by
# our program iscsi_check.c. The disk is a file, which is compared with what was put and got.
# IPv4 only: tgtd listens at 0.0.0.0, port 3260 of rdma_cm, and can be told no other.

iser_target=iqn.2024-01.org.uhca:disk

iser_admin() { # ARGUMENT...
	TGT_IPC_SOCKET=$out/iser.sock tgtadm -C 1 --lld iser "$@" 2>>"$out/errors"
}

iser_admin_answers_or_is_gone() {
	iser_admin --mode sys --op show >/dev/null || is_gone "$server_pid"
}

# tgtd takes an initiator only when both its address and its name are bound to the target.
iser_disk() { # FILE
	iser_admin --mode target --op new --tid 1 -T "$iser_target" &&
		iser_admin --mode logicalunit --op new --tid 1 --lun 1 -b "$1" &&
		iser_admin --mode target --op bind --tid 1 -I ALL &&
		iser_admin --mode target --op bind --tid 1 -Q iqn.2024-01.org.uhca:initiator
}

iser_copy() { # put|get FILE
	local disk
	disk=iser://$(fabric_address 4):3260/$iser_target/1
	timeout -k 2 "$limit" "${client_run[@]}" "$out/iscsi_check" "$1" "$disk" "$2" \
		>>"$out/client" 2>&1 </dev/null ||
		echo "$1 $(status_words $?): $(tail -n 1 "$out/client")"
}

iser_copies() {
	head -c 4000256 /dev/urandom >"$out/iser.file"
	truncate -s 4000256 "$out/iser.disk"
	start_server env TGT_IPC_SOCKET="$out/iser.sock" tgtd -f -C 1 --iser pool_sz_mb=128 \
		--iscsi portal="127.0.0.1:$port"
	until_true iser_admin_answers_or_is_gone
	iser_disk "$out/iser.disk" || echo "no target: $(tail -n 1 "$out/errors" "$out/server")"
	iser_copy put "$out/iser.file"
	cmp "$out/iser.file" "$out/iser.disk" 2>&1
	iser_copy get "$out/iser.back"
	cmp "$out/iser.file" "$out/iser.back" 2>&1
	kill -KILL -- "-$server_pid" # it does not end while a session's queue pair is in time-wait
	wait "$server_pid" 2>/dev/null
}

iser_complaint() {
	gcc -O1 -o "$out/iscsi_check" "$here/ends/iscsi_check.c" -liscsi >"$out/compiler" 2>&1 ||
		echo "gcc: $(head -n 1 "$out/compiler")"
	iser_copies
}

rows_iser() {
	local PATH=$PATH:/usr/sbin # where tgtd is, and where not everybody looks
	[ "$family" = 4 ] || return 0
	wanted iser put-and-get core || return 0
	[ -z "$list_only" ] || { echo "iser put-and-get: tgtd, iscsi_check" && return; }
	available iser put-and-get tgtd || return 0
	[ -e /usr/include/iscsi/iscsi.h ] || {
		skip iser put-and-get "no iscsi/iscsi.h (scripts/deps --install clients)"
		return
	}
	next_port
	try iser put-and-get carries 4000256 iser_complaint
}
