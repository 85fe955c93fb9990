/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "preload": the library that answers what libibverbs and librdmacm ask of the system behind
 * the provider's back. It stands under every process, so that it uses the C library and nothing of
 * the provider; a provider that it has not been loaded before loads it (no_preload.c).
 *
 * Who may call: the driver, by the hooks that the two exchange.
 * Where to begin: hooks.h, then paths.c.
 */
#ifndef UHCA_PRELOAD_H
#define UHCA_PRELOAD_H

#include "hooks.h"
#include "real.h"

#endif
