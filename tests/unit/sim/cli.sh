#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# uhca-sim as somebody types it: a run that is the same twice, its files, networks as files, and
# what is said of mistakes.
set -u
sim=${UHCA_BUILDDIR:?}/uhca-sim
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 99
status=0
wrong() {
	echo "FAIL $*"
	status=1
}

run="run --topology fat-tree:4 --workload hadoop:30% --cc dcqcn --duration 300us --drain 5ms"
for i in 1 2; do
	# shellcheck disable=SC2086 # words
	"$sim" $run --json $i.json --csv $i.csv --flows $i.flows --series $i.series >$i.txt ||
		wrong "it ends with $?"
done
for file in json csv flows series txt; do
	cmp 1.$file 2.$file || wrong "$file of two runs"
	[ "$(wc -l <1.$file)" -gt 5 ] || wrong "$file is short"
done
[ -z "$("$sim" compare 1.json 2.json)" ] || wrong "two runs of one seed compare"
# shellcheck disable=SC2086
"$sim" $run --seed 2 --json 3.json >3.txt
"$sim" compare 1.json 3.json | grep -q '^flows.slowdown.mean .* %$' || wrong "two seeds compare"
grep -qx "flows.finished,$(($(wc -l <1.flows) - 1))" 1.csv || wrong "flows of CSV and of the list"

# A network as a file is the network.
"$sim" topology fat-tree:4 >fat.topo
# shellcheck disable=SC2086
"$sim" $run --topology ./fat.topo --json 4.json >4.txt
[ -z "$("$sim" compare 1.json 4.json)" ] || wrong "a printed network is another one"

# says TEXT WORD...: that ends with 2 and a line with the text.
says() {
	text=$1
	shift
	"$sim" "$@" >out 2>err
	[ $? = 2 ] || wrong "$*: not status 2"
	grep -qF -- "$text" err || wrong "$*: $(cat err)"
	[ "$(wc -l <err)" = 1 ] || wrong "$*: more than a line"
}
echo 'host a b
link a b rate=3X' >bad.topo
says "./bad.topo:2:15: rate: '3X' is not a rate such as 100G" topology ./bad.topo
says "did you mean 'fat-tree'?" topology fat-tre
printf 'host a b\nlink a b\0link\n' >nul.topo
says "./nul.topo:2:9: a NUL byte: not a text file" topology ./nul.topo
says "unknown command 'rum': did you mean 'run'?" rum
says "run needs --topology and --workload" run --topology fat-tree:4
says "did you mean 'dcqcn'?" run --cc dqcn
says "did you mean '--topology'?" run --topologi x
says "incast: 9 senders need 10 hosts, there are 8" run --topology one-switch:8 \
	--workload incast:senders=9
says "--warmup: the run ends before that time" run --topology one-switch:4 --workload incast \
	--duration 1ms --warmup 3ms
says "20ms down switch h1: the run ends before that time" run --topology one-switch:4 \
	--workload incast --at "20ms down switch h1"
cp 1.flows kept.flows
cp 1.series kept.series
says "unknown node 'h9'" run --topology one-switch:8 --workload incast --at '2ms pause h9' \
	--flows 1.flows --series 1.series
cmp 1.flows kept.flows || wrong "a run that is refused empties --flows"
cmp 1.series kept.series || wrong "a run that is refused empties --series"
says "column 12: h1 is a host" run --topology one-switch:8 --workload incast --at '2ms down h1'
says "column 11: switch is a switch: hosts pause" run --topology one-switch:8 --workload incast \
	--at '2ms pause switch'
says "longer than the link" run --topology one-switch:8 --workload incast --mtu 9000
says "its buffer of 64000 bytes is smaller" run --topology one-switch:8,buffer=64K --workload incast
says "kmin is above kmax" run --topology one-switch:8 --workload incast \
	--set 'class 3 kmin=9K kmax=1K'
pair="run --topology one-switch:2 --workload pair"
for time in duration drain warmup sample reroute rto cnp-interval; do
	# shellcheck disable=SC2086 # words
	says "--$time: '18446744s' is not in the range" $pair --$time 18446744s
done
# shellcheck disable=SC2086 # words
{
	says "--mtu: '65001' is not in the range 64 to 65000" $pair --mtu 65001
	says "--header: '501' is not in the range 0 to 500" $pair --header 501
	says "--ack-every: '65536' is not in the range 1 to 65535" $pair --ack-every 65536
	says "--seed: '18446744073G' is not in the range" $pair --seed 18446744073G
}
# shellcheck disable=SC2086 # words
says "pair: a size of 70G is more than 2^30 packets" $pair:size=70G --mtu 64
says "all-to-all: 40320000 connections, and at most 10000000 can be" run \
	--topology one-switch:64 --workload all-to-all:qps=10000
says "no.such: No such file" topology ./no.such
echo '{}' >empty.json
for file in bad.topo empty.json; do
	"$sim" compare 1.json $file 2>/dev/null
	[ $? = 1 ] || wrong "$file, that is no report"
done

# What one of two reports lacks stands on its side.
# shellcheck disable=SC2086 # words
"$sim" $pair --json 5.json >5.txt
"$sim" compare 5.json 1.json | grep -q '^flows.sizes.0.flows  *-  *[1-9]' || wrong "new numbers"
"$sim" compare 1.json 5.json | grep -q '^flows.sizes.0.flows  *[1-9][0-9]*  *- ' || wrong "old ones"
"$sim" run --topology one-switch:8 --workload incast --json no/such/file >/dev/null 2>&1
[ $? = 1 ] || wrong "a file that cannot be written"
for option in topology workload cc; do
	[ "$("$sim" --$option help | wc -l)" -gt 4 ] || wrong "--$option help"
done
exit $status
