/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Without LD_PRELOAD (design D2), in a container where somebody has put the device files into
 * /dev: the provider loads the preload library itself, and sends the calls of libibverbs and
 * librdmacm there, no others of the program.
 */
#ifndef UHCAV_NO_PRELOAD_H
#define UHCAV_NO_PRELOAD_H

#include "provider/preload/preload.h"

/*
 * To be called once, when no preload library has taken the hooks. What is loaded later is found
 * when libibverbs next looks for devices, which librdmacm makes it do before it opens anything.
 * Returns NULL, or why it cannot be.
 */
const char *uhcav_no_preload(const struct uhca_preload_hooks *hooks);

#endif
