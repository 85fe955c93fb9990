/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection management of the device: QP1, its management datagrams, and one struct cm for each
 * end of a connection (the shell's door to those is core_cm.h).
 *
 * Called by packets for QP1, and by the device, whose deadlines are also these. Begin with cm.h.
 */
#ifndef CORE_MANAGEMENT_MODULE_H
#define CORE_MANAGEMENT_MODULE_H

#include "cm_manager.h"
#include "gsi.h"

#endif
