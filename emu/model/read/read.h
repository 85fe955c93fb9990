/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of read: capture files and the words in them. model/capture and the scenarios of
 * uhcactl call; it calls none. Begin at pcapng.h.
 */
#ifndef MODEL_READ_MODULE_H
#define MODEL_READ_MODULE_H

#include "arena.h"
#include "pcapng.h"
#include "text.h"
#include "words.h"

#endif
