/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "context": one opened device. The connection to the daemon and what is shared with it,
 * what the process hears of the daemon (completion channels, events, its end), and what forks do to
 * it. It knows no kind of object: those that are to hear of the daemon's end listen (device.h).
 *
 * Who may call: every module above: keys, queues, qp, poll, post, dv, and the driver, which alone
 * opens and closes. It calls base.
 * Where to begin: device.h, then open.c.
 */
#ifndef UHCAV_CONTEXT_H
#define UHCAV_CONTEXT_H

#include "async.h"
#include "channel.h"
#include "child.h"
#include "context_file.h"
#include "device.h"
#include "device_query.h"
#include "fork.h"
#include "monitor.h"
#include "open.h"
#include "post_fault.h"
#include "refuse.h"

#endif
