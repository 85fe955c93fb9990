/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The door of local: processes of this host, their sockets, descriptors that are watched for them,
 * calls that wait, and who is still here. Those who serve somebody call (serve, ucma, ctl); it
 * calls base. Begin at listener.h, then message.h.
 */
#ifndef IO_LOCAL_DOOR_H
#define IO_LOCAL_DOOR_H

#include "descriptor.h"
#include "linger.h"
#include "listener.h"
#include "message.h"
#include "notify.h"
#include "privilege.h"
#include "slow_call.h"
#include "undertaker.h"
#include "watch.h"

#endif
