/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol between uhcactl and the daemon: a STREAM Unix socket ("ctl" in the instance's
 * directory), one JSON object per line in each direction, a reply for each request, in order.
 *
 *   request  {"cmd": NAME, ...}
 *   reply    {"ok": true, "result": ...}   or   {"ok": false, "error": TEXT}; an error in a text
 *            says where: "column": N and, in a file, "line": N, both from 1
 *
 *   show      "what": one of device client pd mr mw dm cq qp srq xrcd ah cm_id fabric
 *             -> table: {"columns": [{"name": TEXT, "hex": BOOL}...], "rows": [[value...]...]};
 *             a value is a number, a text, or null where the object has no such fact
 *   counters  -> table with one row for each device
 *   capture   "action": "start" with "file": absolute path, and where wanted "device": TEXT (one
 *             device instead of all, or a port of the modelled network) and "snap": N (bytes of
 *             each packet; 0: records only), "stop" or "status" -> {"running": BOOL,
 *             "file": TEXT, "packets": N, "bytes": N, "records": N}; "error": TEXT when it ended
 *             by itself
 *             "action": "dump" with "file": absolute path: what the flight recorder has
 *             -> {"file": TEXT, "packets": N, "records": N, "cut": BOOL}: there was more
 *   port      "device", "action": "up" or "down" -> {"device": TEXT, "up": BOOL}
 *   device    "device", "action": "fatal" -> {"device": TEXT, "clients": N}: how many lost it
 *   limit     "device", "name", "value": N -> {"device": TEXT, "name": TEXT, "value": N}
 *   event     "device", "name": any of enum ibv_event_type, such as LID_CHANGE, and for one of an
 *             object "of": "qp=NUMBER", "cq=HANDLE" or "srq=HANDLE" -> {"device": TEXT}
 *   walk      "key": N, "offset": N -> the translation of a memory region, as an object of
 *             numbers named as in struct core_walk, "device", "program",
 *             "steps": [{...}...]: through indirect memory keys, as in struct core_walk_step, with
 *             "shape": TEXT, "dims": [{"count": N, "index": N, "stride": N}...] and
 *             "shown": [{"index": N, "addr": N, "bytes": N, "key": N}...]; and
 *             "shown": [{"index": N, "page": N}...] of the region at the end. "byte",
 *             "invalid": true and what is told of windows, pages and dimensions is there only
 *             where there is such a thing
 *   fault     rules, uhca-fault(7); "rule" is a rule's number, or its name as TEXT
 *             "action": "list" -> {"seed": TEXT, "rules": [{"rule": N, "name": TEXT, "text": TEXT,
 *                       "layer": TEXT, "random": BOOL, "matched": N, "hits": N}...]}; name "":
 *                       none; random: there is chance in it. Of a rule without hits also
 *                       "looked": N (packets, calls ... that there were), "seen": N (that all its
 *                       words let through, also while it was not in force), "words":
 *                       [{"name": TEXT, "matched": N}...]: what each word lets through
 *             "action": "add" with "text" -> {"rule": N}
 *             "action": "change" with "rule", "text" -> {"rule": N}
 *             "action": "remove" with "rule" -> what "list" told of it
 *             "action": "clear" -> {"rules": N}: how many there were
 *             "action": "load" with "file": absolute path -> {"rules": N}: all of them, or none
 *             "action": "replay" with "file" -> {"rules": N}: what does the same as a trace again
 *             "action": "trace" with "from": N -> {"lines": [TEXT...], "next": N, "end": N,
 *                       "lost": N}: some lines from that one on, where to go on, where the trace
 *                       ends, how many were forgotten at its beginning
 *   step      "device", without it all of them, and
 *             "action": "freeze", "go", "list"
 *             "action": "next" with "count": N -> {"total": N, "gone": [{as "waiting", and
 *                       "device": TEXT}...]}: what it let go, of many packets the first only;
 *                       none is an error
 *             and with "device", which may be left out where there is one only,
 *             "action": "release", "drop" with "number": N
 *             "action": "change" with "number": N, "field": TEXT, "value": N
 *             -> {"devices": [{"device": TEXT, "frozen": BOOL, "total": N, "waiting":
 *             [{"number": N, "direction": "tx" or "rx", "packet": TEXT, "wr": TEXT,
 *             "since": TEXT}...]}...]}: how it is afterwards; of many packets the first only.
 *             "wr" where it is known, a number; "since" nanoseconds
 *   fabric    the modelled network -> {"network": TEXT, "scale": N: its time runs so much slower,
 *             "rate_mbps": N of a host's link, "time_ns": N in its own time, "behind_us": N that
 *             its time stood still, "hops", "delivered", "marked", "xoff", "xon", "paused_us",
 *             "storms", "deadlocks": N, "dropped": {REASON: N...}}; rows of ports: show "fabric"
 *             "action": "fail" with "text", such as "down leaf0 spine1" -> the same, afterwards
 *             "action": "path" with "number": of a queue pair, and where wanted "device"
 *             -> [{"device": TEXT, "qpn": N, "sport": N, "path": [PORT..., HOST]}...]
 *   log       -> {}, when what was logged before is written, or after a second
 *   version   -> {"version": TEXT, "pid": N}
 *
 * Unknown members of a request are an error, so that a newer uhcactl is not misunderstood.
 */
#ifndef UHCA_ABI_CTL_H
#define UHCA_ABI_CTL_H

/*
 * What uhca-run tells the provider by the environment. "1": large allocations of the program are
 * the arena's from their birth (--share-heap).
 */
#define UHCA_SHARE_HEAP_ENV "UHCA_SHARE_HEAP"

/* Exit status of uhcad: another process has the UDP port of a device's address. */
#define UHCA_EXIT_ADDRESS_TAKEN 3

#define UHCA_DEVICES_MAX 64 /* of a daemon */

#define UHCA_CTL_SOCKET   "ctl"
#define UHCA_CTL_MAX_LINE 16384 /* bytes of a request with its newline */

#define UHCA_CTL_CMD     "cmd"
#define UHCA_CTL_OK      "ok"
#define UHCA_CTL_ERROR   "error"
#define UHCA_CTL_RESULT  "result"
#define UHCA_CTL_WHAT    "what"
#define UHCA_CTL_COLUMNS "columns"
#define UHCA_CTL_ROWS    "rows"
#define UHCA_CTL_NAME    "name"
#define UHCA_CTL_OF      "of"
#define UHCA_CTL_HEX     "hex"
#define UHCA_CTL_ACTION  "action"
#define UHCA_CTL_FILE    "file"
#define UHCA_CTL_PACKETS "packets"
#define UHCA_CTL_BYTES   "bytes"
#define UHCA_CTL_RECORDS "records"
#define UHCA_CTL_SNAP    "snap"
#define UHCA_CTL_CUT     "cut"
#define UHCA_CTL_RUNNING "running"
#define UHCA_CTL_VERSION "version"
#define UHCA_CTL_PID     "pid"
#define UHCA_CTL_DEVICE  "device"
#define UHCA_CTL_KEY     "key"
#define UHCA_CTL_OFFSET  "offset"
#define UHCA_CTL_UP      "up"
#define UHCA_CTL_CLIENTS "clients"

#define UHCA_CTL_LINE      "line"
#define UHCA_CTL_COLUMN    "column"
#define UHCA_CTL_RULE      "rule"
#define UHCA_CTL_RULES     "rules"
#define UHCA_CTL_TEXT      "text"
#define UHCA_CTL_LAYER     "layer"
#define UHCA_CTL_MATCHED   "matched"
#define UHCA_CTL_HITS      "hits"
#define UHCA_CTL_LOOKED    "looked"
#define UHCA_CTL_SEEN      "seen"
#define UHCA_CTL_WORDS     "words"
#define UHCA_CTL_RANDOM    "random"
#define UHCA_CTL_SEED      "seed"
#define UHCA_CTL_FROM      "from"
#define UHCA_CTL_NEXT      "next"
#define UHCA_CTL_END       "end"
#define UHCA_CTL_LOST      "lost"
#define UHCA_CTL_LINES     "lines"
#define UHCA_CTL_NUMBER    "number"
#define UHCA_CTL_COUNT     "count"
#define UHCA_CTL_FIELD     "field"
#define UHCA_CTL_VALUE     "value"
#define UHCA_CTL_FROZEN    "frozen"
#define UHCA_CTL_TOTAL     "total"
#define UHCA_CTL_WAITING   "waiting"
#define UHCA_CTL_GONE      "gone"
#define UHCA_CTL_DEVICES   "devices"
#define UHCA_CTL_DIRECTION "direction"
#define UHCA_CTL_PACKET    "packet"
#define UHCA_CTL_WR        "wr"
#define UHCA_CTL_SINCE     "since"

#endif
