/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of lib: a connection to a daemon's control socket, where its directory is, the
 * files that are read and written for a user, and how a program ends. What is installed for others,
 * uhcactl.h and uhca_fixture.h, is not behind it. All modules of ctl call; it calls none. Begin at
 * connection.h.
 */
#ifndef CTL_LIB_MODULE_H
#define CTL_LIB_MODULE_H

#include "clock.h"
#include "connection.h"
#include "ctl_file.h"
#include "exit_status.h"
#include "instance_dir.h"
#include "number.h"
#include "reply.h"
#include "waiting_call.h"
#include "xml.h"

#endif
