# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows in which the daemon is thrown garbage while others work: they do not notice, and it stays.

garbage_during() { # SEED
	local daemon size=65536 n=3000 thrower
	daemon=$(cat "$UHCA_DIR/pid")
	/usr/bin/python3 "$here/garbage.py" "$1" 127.0.0.1 "$UHCA_DIR" 2000 &
	thrower=$!
	next_port
	run_pair "ibv_rc_pingpong -g 0 -c -s $size -n $n -p $port" \
		"ibv_rc_pingpong -g 0 -c -s $size -n $n -p $port 127.0.0.1"
	wait $thrower || echo "the thrower of seed $1 failed"
	pair_complaint
	check_pingpong $size $n
	is_alive "$daemon" || echo "the daemon died of seed $1"
}

rows_garbage() {
	local seed
	for seed in ${UHCA_SEED:-1 2 3}; do
		try garbage "seed-$seed" garbage_during "$seed"
	done
}
