# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of libfabric: its own programs over its verbs provider, and tests/verbs/ends/fi_rma.c.

fabric_address() { # 4|6: of the server's device
	local dir=${UHCA_PEER_DIR:-$UHCA_DIR}
	if [ "$1" = 4 ]; then
		address_of "$dir" "$server_dev"
	else
		cat "$dir/sys/class/infiniband/$server_dev/ports/1/gids/1"
	fi
}

check_fabric() { # WORD of the size, ITERATIONS
	local side
	for side in server client; do
		grep -qE "^$1 +$2 +=$2 " "$out/$side" || {
			echo "$side does not report $2 messages of $1 bytes"
			return
		}
	done
}

# fabric_pair NAME LEVEL PROVIDER ENDPOINT SIZE WORD ITERATIONS FLAGS...
fabric_pair() {
	local name=$1 lev=$2 what="-p $3 -e $4 -S $5 -I $7 -c" check="check_fabric $6 $7"
	shift 7
	wanted fabric "$name" "$lev" || return 0
	[ -z "$list_only" ] || { echo "fabric $name: fi_pingpong $what $*" && return; }
	available fabric "$name" fi_pingpong || return 0
	next_port
	[ "$family" = 4 ] || what+=" -6"
	row fabric "$name" "$check" "$hasty fi_pingpong $what $* -B $port" \
		"$hasty fi_pingpong $what $* -P $port $(fabric_address 4)"
}

fi_rma_complaint() { # 4|6 ENDPOINT [unregistered|cache] [VARIABLE=VALUE...]
	local address kind=$2 words=()
	address=$(fabric_address "$1")
	shift 2
	[[ ! ${1:-} =~ ^(unregistered|cache)$ ]] || { words=("$1") && shift; }
	# In a folder of its own: a provider of libfabric writes a file there when one crashes.
	timeout -k 2 "$limit" "${client_run[@]}" env -C "$out" "$@" "$hasty" \
		"$UHCA_BUILDDIR/tests/verbs/ends/fi_rma" "$address" "$kind" "${words[@]}" \
		>"$out/client" 2>&1 </dev/null || {
		echo "fi_rma $(status_words $?): $(last_words)"
		return
	}
	# Its table; at least a row for each call.
	[ "$(grep -c '| ok |$' "$out/client")" -ge 20 ] || echo "no table: $(last_words)"
}

# All calls on all endpoints, and the table that docs/reference/libfabric.md shows of them.
fabric_table_complaint() {
	timeout -k 2 $((3 * limit)) "${client_run[@]}" env -C "$out" "$hasty" \
		"$here/rows/fabric_table" "$(fabric_address 4)" >"$out/client" 2>"$out/errors" || {
		echo "fabric_table $(status_words $?): $(tail -n 1 "$out/errors")"
		return
	}
	sed -n '/^| call /,/^$/p' "$root/docs/reference/libfabric.md" | sed '/^$/d' |
		cmp -s - "$out/client" || echo "docs/reference/libfabric.md has another table"
}

fabric_table() {
	wanted fabric fi_rma full || return 0
	[ -z "$list_only" ] || { echo "fabric fi_rma: tests/verbs/rows/fabric_table" && return; }
	is_built fi_rma && try fabric fi_rma fabric_table_complaint
}

is_built() { # NAME of the row
	[ ! -x "$UHCA_BUILDDIR/tests/verbs/ends/fi_rma" ] || return 0
	skip fabric "$1" "tests/verbs/ends/fi_rma is not built (make check)"
	return 1
}

has_ipv6_address() { # NAME of the row
	local none=0000:0000:0000:0000:0000:0000:0000:0000
	[ "$(fabric_address 6)" = $none ] || return 0
	skip fabric "$1" "the device has no IPv6 address: another of this machine has ::1"
	return 1
}

fi_rma() { # NAME, and as above
	local name=$1
	shift
	wanted fabric "$name" program || return 0
	[ -z "$list_only" ] || { echo "fabric $name: fi_rma $*" && return; }
	is_built "$name" || return 0
	[ "$1" != 6 ] || has_ipv6_address "$name" || return 0
	try fabric "$name" fi_rma_complaint "$@"
}

# How libfabric registers what its user did not: nothing that the network under a device changes.
rows_registration_cache() {
	fi_rma fi_rma-rdm-userfaultfd 4 rdm cache FI_MR_CACHE_MONITOR=userfaultfd
	[ "$variant" != nobody ] || return 0
	fi_rma fi_rma-rdm-no-cache 4 rdm cache FI_MR_CACHE_MAX_COUNT=0
	fi_rma fi_rma-rdm-memhooks 4 rdm cache FI_MR_CACHE_MONITOR=memhooks
	fi_rma fi_rma-rdm-no-monitor 4 rdm cache FI_MR_CACHE_MONITOR=disabled
}

rows_fabric() {
	[ "$variant" = devices ] || look fi_info-msg "type: FI_EP_MSG" fi_info -p verbs -t FI_EP_MSG
	fabric_pair fi-msg core verbs msg 65536 64k 100
	fabric_pair fi-rxm core "verbs;ofi_rxm" rdm 65536 64k 100
	fabric_pair fi-rxm-tagged full "verbs;ofi_rxm" rdm 1048576 1m 20 -m tagged
	fabric_pair fi-msg-all full verbs msg all 6m 5
	fabric_pair fi-rxm-all full "verbs;ofi_rxm" rdm all 6m 5
	fabric_pair fi-dgram core verbs dgram 1024 1k 100
	[ "$level" = full ] || [ "$variant" = nobody ] || return 0
	if [ "$variant" != wire ]; then
		fabric_table
	else
		# RDM endpoints are made of these: their messages are those of fi-rxm-all.
		fi_rma fi_rma-msg 4 msg
	fi
	fi_rma fi_rma-msg-16-buffers 4 msg FI_VERBS_TX_IOV_LIMIT=16
	[ "$variant" = wire ] || rows_registration_cache
	[ "${has_ipv6:-0}" = 1 ] || return 0
	fi_rma fi_rma-msg-ipv6 6 msg
	[ "$variant" = wire ] || fi_rma fi_rma-rdm-ipv6 6 rdm cache
}
