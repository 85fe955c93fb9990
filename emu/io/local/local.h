/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of local: processes of this host, their sockets, descriptors that are watched for
 * them, calls that wait, and who is still here. Those who serve somebody call (serve, ucma, ctl);
 * it calls base. Begin at listener.h, then message.h.
 */
#ifndef IO_LOCAL_MODULE_H
#define IO_LOCAL_MODULE_H

#include "descriptor.h"
#include "idle_timeout.h"
#include "listener.h"
#include "message.h"
#include "notify.h"
#include "privilege.h"
#include "prompt.h"
#include "reaper.h"
#include "slow_call.h"
#include "task.h"
#include "watch.h"
#include "xrcd_files.h"

#endif
