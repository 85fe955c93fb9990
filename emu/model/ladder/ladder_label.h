/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of a ladder: what stands at arrows and beside them. */
#ifndef MODEL_LADDER_LABEL_H
#define MODEL_LADDER_LABEL_H

#include "emu/model/capture/capture_model.h"

#include <stddef.h>

/* "WRITE_FIRST psn 100, 1024 B", "RNR NAK psn 7, wait 0.64 ms"; count packets from this one on. */
void ladder_label(const struct model *s, const struct model_arrow *a, unsigned count, char *buf,
		  size_t cap);

/* What became of it and why; empty when there is nothing to say. */
void ladder_arrow_note(const struct model *s, const struct model_arrow *a, char *buf, size_t cap);

/* What a record tells; empty: nothing that a ladder shows. */
void ladder_record_note(const struct model *s, const struct model_record *r, unsigned count,
			char *buf, size_t cap);

#endif
