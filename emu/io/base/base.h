/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The door of base: what anybody may need who talks with the system: addresses and interfaces, the
 * clock, the log, words of text, random bytes. Anybody may call; it calls nobody. Begin at log.h.
 */
#ifndef IO_BASE_DOOR_H
#define IO_BASE_DOOR_H

#include "address.h"
#include "clock.h"
#include "log.h"
#include "random.h"
#include "words.h"

#endif
