/* SPDX-License-Identifier: BSD-2-Clause */
/* Umbrella header of topo: networks as data, read, generated, printed. Begin at topology.h. */
#ifndef FABRIC_TOPO_MODULE_H
#define FABRIC_TOPO_MODULE_H

#include "topology.h"

#endif
