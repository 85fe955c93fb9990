/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way of packets into the device and out of it: to the QP or the group they are for, from
 * whichever QP may send next; and whole Ethernet frames by steering rules.
 *
 * Called by the shell (core_rx, core_tx_next, core_frame_next). Begin with receive.c and
 * transmit.c.
 */
#ifndef CORE_PACKETS_DOOR_H
#define CORE_PACKETS_DOOR_H

#include "farewell.h"
#include "flow.h"
#include "mcast.h"
#include "raw.h"
#include "receive.h"

#endif
