/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of serve: clients, that is, connected processes, their control messages,
 * doorbells and event channels. fault, ucma, ctl and the loop call; it calls capture and all below,
 * and what is above by struct io_clients_ops. Begin at clients.h, then cmd_server.c.
 */
#ifndef IO_SERVE_MODULE_H
#define IO_SERVE_MODULE_H

#include "client.h"
#include "clients.h"
#include "cmd_server.h"
#include "drain_doorbells.h"

#endif
