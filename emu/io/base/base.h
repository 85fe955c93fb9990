/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of base: addresses and interfaces, the clock, the length of loop passes, the log,
 * words of text, random bytes. All modules of io may call it; it calls none. Begin at log.h.
 */
#ifndef IO_BASE_MODULE_H
#define IO_BASE_MODULE_H

#include "address.h"
#include "clock.h"
#include "log.h"
#include "loop_pass.h"
#include "random.h"
#include "refusal.h"
#include "thread.h"
#include "words.h"

#endif
