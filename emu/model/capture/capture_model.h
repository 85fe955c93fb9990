/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of capture: a capture as one model, and the names of what happens in it. ladder,
 * report and uhcactl call; it calls read. Begin at model.h.
 */
#ifndef CAPTURE_MODEL_H
#define CAPTURE_MODEL_H

#include "causes.h"
#include "cm_reasons.h"
#include "judgement.h"
#include "model.h"
#include "standing.h"
#include "statuses.h"
#include "vocabulary.h"

#endif
