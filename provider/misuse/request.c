/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of one request when it is posted: receives, inline data, atomics. See misuse.h. */
#include "misuse.h"

#define ATOMIC_LENGTH 8u

void uhcav_misuse_atomic(const struct uhcav_misuse_request *r, uint64_t remote_addr)
{
	bool askew = remote_addr % ATOMIC_LENGTH;

	if ((!askew && r->length == ATOMIC_LENGTH) ||
	    !uhcav_diagnostic_is_new(UHCA_CHECK_ATOMIC_UNALIGNED, r->posted, NULL))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_ATOMIC_UNALIGNED, "%s",
			       askew ? "an atomic's remote address is no multiple of 8"
				     : "an atomic's elements do not have 8 bytes");
	uhcav_diagnostic_request(&r->name);
	uhcav_diagnostic_fact("remote address 0x%llx, %llu bytes", (unsigned long long)remote_addr,
			      (unsigned long long)r->length);
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_report();
}

void uhcav_misuse_read(const struct uhcav_misuse_request *r)
{
	if (!uhcav_diagnostic_is_new(UHCA_CHECK_CONN_MISMATCH, r->posted, NULL))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_CONN_MISMATCH,
			       "a READ or an atomic is posted that is never sent: max_rd_atomic of "
			       "its queue pair is 0");
	uhcav_diagnostic_request(&r->name);
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_report();
}

void uhcav_misuse_inline(const struct uhcav_misuse_request *r, uint32_t asked,
			 const struct uhcav_stack *made)
{
	if (r->length <= asked ||
	    !uhcav_diagnostic_is_new(UHCA_CHECK_INLINE_UNASKED, r->posted, made))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_INLINE_UNASKED,
			       "a request has more inline data than its queue pair was made for");
	uhcav_diagnostic_request(&r->name);
	uhcav_diagnostic_fact("%llu bytes inline, max_inline_data %u",
			      (unsigned long long)r->length, asked);
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_stack(made, "%s 0x%x made by", r->name.queue, r->name.number);
	uhcav_diagnostic_report();
}

void uhcav_misuse_recv(const struct uhcav_misuse_request *r)
{
	if (r->length >= UHCAV_GRH_LENGTH ||
	    !uhcav_diagnostic_is_new(UHCA_CHECK_UD_RECV_SHORT, r->posted, NULL))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_UD_RECV_SHORT,
			       "a receive has no room for the 40 bytes in front of each datagram");
	uhcav_diagnostic_request(&r->name);
	uhcav_diagnostic_fact("%llu bytes", (unsigned long long)r->length);
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_report();
}

void uhcav_misuse_datagram(const struct uhcav_misuse_request *r,
			   const struct uhcav_misuse_receive *longest)
{
	if (!longest->length || longest->length >= UHCAV_GRH_LENGTH + r->length ||
	    !uhcav_diagnostic_is_new(UHCA_CHECK_UD_RECV_SHORT, r->posted, longest->posted))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_UD_RECV_SHORT,
			       "a datagram is longer than each receive of its target: it is lost");
	uhcav_diagnostic_request(&r->name);
	uhcav_diagnostic_fact("%llu bytes, and 40 in front of them; the longest receive of QP 0x%x "
			      "has %llu",
			      (unsigned long long)r->length, longest->qp_num,
			      (unsigned long long)longest->length);
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_stack(longest->posted, "the receive posted by");
	uhcav_diagnostic_report();
}
