/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol between uhcactl and the daemon: a STREAM Unix socket ("ctl" in the instance's
 * directory), one JSON object per line in each direction, a reply for each request, in order.
 *
 *   request  {"cmd": NAME, ...}
 *   reply    {"ok": true, "result": ...}   or   {"ok": false, "error": TEXT}
 *
 *   show      "what": one of device client pd mr mw dm cq qp srq xrcd ah
 *             -> table: {"columns": [{"name": TEXT, "hex": BOOL}...], "rows": [[value...]...]};
 *             a value is a number, a text, or null where the object has no such fact
 *   counters  -> table with one row for each device
 *   capture   "action": "start" with "file": absolute path, and where wanted "device": TEXT (one
 *             device instead of all) and "snap": N (bytes of each packet; 0: records only), "stop"
 *             or "status" -> {"running": BOOL, "file": TEXT, "packets": N, "bytes": N,
 *             "records": N}; "error": TEXT when it ended by itself
 *             "action": "dump" with "file": absolute path: what the flight recorder has
 *             -> {"file": TEXT, "packets": N, "records": N, "cut": BOOL}: there was more
 *   port      "device", "action": "up" or "down" -> {"device": TEXT, "up": BOOL}
 *   device    "device", "action": "fatal" -> {"device": TEXT, "clients": N}: how many lost it
 *   event     "device", "name": an event of the port, such as LID_CHANGE -> {"device": TEXT}
 *   walk      "key": N, "offset": N -> the translation of a memory region, as an object of
 *             numbers named as in struct core_walk, "device", "program",
 *             "steps": [{...}...]: through described keys, as in struct core_walk_step, with
 *             "shape": TEXT, "dims": [{"count": N, "index": N, "stride": N}...] and
 *             "shown": [{"index": N, "addr": N, "bytes": N, "key": N}...]; and
 *             "shown": [{"index": N, "page": N}...] of the region at the end. "byte",
 *             "invalid": true and what is told of windows, pages and dimensions is there only
 *             where there is such a thing
 *   version   -> {"version": TEXT, "pid": N}
 *
 * Unknown members of a request are an error, so that a newer uhcactl is not misunderstood.
 */
#ifndef UHCA_ABI_CTL_H
#define UHCA_ABI_CTL_H

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

#endif
