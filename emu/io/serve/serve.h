/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The door of serve: clients, that is, connected processes, their control messages, doorbells and
 * event channels. fault, ucma, ctl and the loop call; it calls capture and all below, and what is
 * above by struct io_clients_ops. Begin at clients.h, then cmd_server.c.
 */
#ifndef IO_SERVE_DOOR_H
#define IO_SERVE_DOOR_H

#include "catch_up.h"
#include "client.h"
#include "clients.h"
#include "cmd_server.h"

#endif
