/* SPDX-License-Identifier: BSD-2-Clause */
/* The checks of the sanitizer (sanitize.h): name, group, rule, source and remedy of each. */
#ifndef UHCA_ABI_CHECKS_H
#define UHCA_ABI_CHECKS_H

/*
 * X(ID, name, group, rule, where the rule stands, how to mend). Groups: sum (what --sanitize alone
 * looks for), strict (what many programs do knowingly), page (sum, and what needs page protection:
 * UHCA_CHECK_PAGES), note (told with sum, and counts for nothing: UHCA_CHECK_NOTES), portable (no
 * mistake). "all" is sum, note and strict.
 */
#define UHCA_CHECK_NOTES "note"
#define UHCA_CHECK_PAGES "page"
#define UHCA_CHECKS(X)                                                                             \
	X(SEND_CHANGED, "send-changed", "sum",                                                     \
	  "A send buffer belongs to the device until the program has polled the request's "        \
	  "completion",                                                                            \
	  "IBTA vol. 1, 10.8.3.3 and 11.4.1.1; ibv_post_send(3)",                                  \
	  "Poll the completion before reusing the buffer, or use another buffer. Up to "           \
	  "max_inline_data bytes can be posted with IBV_SEND_INLINE")                              \
	X(RECV_CHANGED, "recv-changed", "sum",                                                     \
	  "Receive buffers belong to the device until the program has polled the completion, "     \
	  "including bytes that no message fills",                                                 \
	  "IBTA vol. 1, 10.8.3.3 and 11.4.1.2; ibv_post_recv(3)",                                  \
	  "Keep the program's own data elsewhere, or post a shorter buffer")                       \
	X(RECV_OVERLAP, "recv-overlap", "strict",                                                  \
	  "Two outstanding receives must not name the same memory: the later message overwrites "  \
	  "the earlier one",                                                                       \
	  "IBTA vol. 1, 10.8.3.3; ibv_post_recv(3)",                                               \
	  "Give each outstanding receive a buffer of its own")                                     \
	X(READ_UNFENCED, "read-unfenced", "sum",                                                   \
	  "Data of a READ or an atomic is valid after its completion. A later request of the "     \
	  "queue may send it earlier, unless that request has IBV_SEND_FENCE",                     \
	  "IBTA vol. 1, 10.8.3.3, table of ordering rules; ibv_post_send(3)",                      \
	  "Post the later request with IBV_SEND_FENCE, or after polling the READ's completion")    \
	X(WRITE_UNFENCED, "write-unfenced", "sum",                                                 \
	  "A WRITE may execute before an earlier READ or atomic of the same queue, unless the "    \
	  "WRITE has IBV_SEND_FENCE",                                                              \
	  "IBTA vol. 1, 10.8.3.3, table of ordering rules; ibv_post_send(3)",                      \
	  "Post the WRITE with IBV_SEND_FENCE, or after polling the READ's completion. A fence "   \
	  "on the READ does not hold back later requests")                                         \
	X(MEMORY_UNMAPPED, "memory-unmapped", "sum",                                               \
	  "Registered memory must stay mapped while requests use it", "ibv_reg_mr(3); munmap(2)",  \
	  "Deregister the region before unmapping or freeing the memory. After mapping it again, " \
	  "register it again")                                                                     \
	X(MEMORY_REPLACED, "memory-replaced", "sum",                                               \
	  "An adapter keeps the pages of the registration. It does not know pages that "           \
	  "are mapped there later",                                                                \
	  "IBTA vol. 1, 10.6.2; ibv_reg_mr(3)",                                                    \
	  "Deregister the memory before unmapping, moving or giving it back, and "                 \
	  "register it again afterwards. Or register it with IBV_ACCESS_ON_DEMAND")                \
	X(MEMORY_FREED, "memory-freed", "sum",                                                     \
	  "Memory in use by requests or peers must not be freed: the allocator hands it "          \
	  "out again",                                                                             \
	  "IBTA vol. 1, 10.6.2; ibv_reg_mr(3), free(3)",                                           \
	  "Poll the completions, let peers end, and deregister the region before "                 \
	  "freeing the memory")                                                                    \
	X(SEND_WRITTEN, "send-written", UHCA_CHECK_PAGES,                                          \
	  "A send buffer belongs to the device until the program has polled the request's "        \
	  "completion",                                                                            \
	  "IBTA vol. 1, 10.8.3.3 and 11.4.1.1; ibv_post_send(3)",                                  \
	  "Poll the completion before writing to or freeing the buffer, or use another buffer. "   \
	  "Up to max_inline_data bytes can be posted with IBV_SEND_INLINE")                        \
	X(RECV_USED, "recv-used", UHCA_CHECK_PAGES,                                                \
	  "Receive buffers belong to the device until the program has polled the completion. "     \
	  "Before that they hold any part of a message, or none",                                  \
	  "IBTA vol. 1, 10.8.3.3 and 11.4.1.2; ibv_post_recv(3)",                                  \
	  "Poll the completion before reading, writing to or freeing the buffer")                  \
	X(READ_USED, "read-used", UHCA_CHECK_PAGES,                                                \
	  "Data of a READ is valid only after the program has polled its completion",              \
	  "IBTA vol. 1, 10.8.3.3 and 11.4.1.1; ibv_post_send(3)",                                  \
	  "Poll the completion of the READ, or of a later request, before reading, writing to or " \
	  "freeing the buffer")                                                                    \
	X(KEY_DEAD, "key-dead", "sum", "An L_Key is valid only while its region is registered",    \
	  "IBTA vol. 1, 10.6.3; ibv_dereg_mr(3)",                                                  \
	  "Deregister the region after its last request has completed, and drop its keys")         \
	X(KEY_FOREIGN, "key-foreign", "sum",                                                       \
	  "A request may only name regions of its queue's protection domain",                      \
	  "IBTA vol. 1, 10.2.3 and 10.6.3.4; ibv_post_send(3)",                                    \
	  "Register the memory in the queue's protection domain")                                  \
	X(KEY_RANGE, "key-range", "sum",                                                           \
	  "A scatter/gather element must lie completely inside its region",                        \
	  "IBTA vol. 1, 10.6.3.4; ibv_post_send(3)",                                               \
	  "Register all memory that requests use, or correct the element's address or length")     \
	X(KEY_ACCESS, "key-access", "sum",                                                         \
	  "Memory that a receive, READ or atomic writes to needs IBV_ACCESS_LOCAL_WRITE",          \
	  "IBTA vol. 1, 10.6.3.1; ibv_reg_mr(3)",                                                  \
	  "Register the memory with IBV_ACCESS_LOCAL_WRITE")                                       \
	X(KEY_SWAPPED, "key-swapped", "sum",                                                       \
	  "Scatter/gather elements take a region's L_Key, remote requests its R_Key. The two "     \
	  "keys are equal on some adapters only",                                                  \
	  "IBTA vol. 1, 10.6.3; ibv_reg_mr(3)",                                                    \
	  "Put mr->lkey into scatter/gather elements, and send mr->rkey to the peer")              \
	X(KEY_UNKNOWN, "key-unknown", "sum",                                                       \
	  "An L_Key is the number in mr->lkey of a region, or one that a bind, an indirect key "   \
	  "or a fast registration gave",                                                           \
	  "IBTA vol. 1, 10.6.3; ibv_reg_mr(3)",                                                    \
	  "Take lkey, 32 bits, from the region that has the memory. Look for a structure that "    \
	  "was not filled in, or was overwritten")                                                 \
	X(RKEY_DEAD, "rkey-dead", "sum", "An R_Key is valid only while its region is registered",  \
	  "IBTA vol. 1, 10.6.3; ibv_dereg_mr(3)",                                                  \
	  "Deregister the region after the peer has confirmed its last access. After a new "       \
	  "registration, send the peer the new R_Key")                                             \
	X(RKEY_ACCESS, "rkey-access", "sum",                                                       \
	  "A remote request needs the access right of the region: remote write for WRITEs, "       \
	  "remote read for READs, remote atomic for atomics",                                      \
	  "IBTA vol. 1, 10.6.3.1; ibv_reg_mr(3)",                                                  \
	  "Register the memory with IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ or "           \
	  "IBV_ACCESS_REMOTE_ATOMIC")                                                              \
	X(QP_ACCESS, "qp-access", "sum",                                                           \
	  "A queue pair allows remote WRITEs, READs and atomics by its qp_access_flags, in "       \
	  "addition to the rights of its regions",                                                 \
	  "IBTA vol. 1, 10.2.3 and 11.2.4.2; ibv_modify_qp(3)",                                    \
	  "Move the queue pair to INIT with IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ or "   \
	  "IBV_ACCESS_REMOTE_ATOMIC in qp_access_flags")                                           \
	X(RKEY_RANGE, "rkey-range", "sum",                                                         \
	  "A remote request must lie completely inside its region",                                \
	  "IBTA vol. 1, 10.6.3.4; ibv_post_send(3)",                                               \
	  "Send address, length and R_Key of the region together, and stay inside them")           \
	X(RKEY_FOREIGN, "rkey-foreign", "sum",                                                     \
	  "A remote request may only name regions of its peer queue pair's protection "            \
	  "domain",                                                                                \
	  "IBTA vol. 1, 10.2.3 and 10.6.3.4; ibv_reg_mr(3)",                                       \
	  "Register the memory in the protection domain of the queue pair that serves "            \
	  "it")                                                                                    \
	X(RKEY_UNKNOWN, "rkey-unknown", "sum",                                                     \
	  "An R_Key is the number that ibv_reg_mr or a bind gave to the owner of the "             \
	  "memory",                                                                                \
	  "IBTA vol. 1, 10.6.3; ibv_reg_mr(3)",                                                    \
	  "Send all 32 bits of mr->rkey to the peer, in a byte order that both ends use")          \
	X(DEREG_POSTED, "dereg-posted", "sum",                                                     \
	  "A region must stay registered until the requests that name it have completed",          \
	  "IBTA vol. 1, 10.6.5; ibv_dereg_mr(3)",                                                  \
	  "Poll the completions first. Otherwise move the queue pair to ERR and drain it, or "     \
	  "destroy it")                                                                            \
	X(AH_POSTED, "ah-posted", "sum",                                                           \
	  "An address handle must exist until the requests that name it have completed. "          \
	  "Adapters may look it up when they send",                                                \
	  "IBTA vol. 1, 11.2.2.5; ibv_create_ah(3)",                                               \
	  "Poll the completions of the requests first, those of unsignaled ones by a "             \
	  "later request. Or destroy the queue pair before the handle")                            \
	X(QUEUE_STUCK, "queue-stuck", "sum",                                                       \
	  "An unsignaled request frees its queue slot when a later signaled request completes. A " \
	  "queue full of unsignaled requests never gets a free slot",                              \
	  "IBTA vol. 1, 10.8.6; ibv_post_send(3)",                                                 \
	  "Post at least one request in max_send_wr with IBV_SEND_SIGNALED, and poll its "         \
	  "completion")                                                                            \
	X(QUEUE_OVERRUN, "queue-overrun", "strict",                                                \
	  "A request occupies its queue slot until its completion is polled. A post to a full "    \
	  "queue fails with ENOMEM",                                                               \
	  "IBTA vol. 1, 10.8.6; ibv_create_qp(3)",                                                 \
	  "Poll completions before the next post, or create the queue pair with a larger "         \
	  "max_send_wr or max_recv_wr")                                                            \
	X(CQ_OVERRUN, "cq-overrun", "strict",                                                      \
	  "A completion queue needs room for the completions of all outstanding requests",         \
	  "IBTA vol. 1, 10.8.4 and 11.2.8.1; ibv_create_cq(3)",                                    \
	  "Create the completion queue with as many entries as its queues can have outstanding "   \
	  "requests")                                                                              \
	X(WR_ID_REUSED, "wr-id-reused", "strict",                                                  \
	  "A completion identifies its request by wr_id alone. Two outstanding requests must not " \
	  "share a wr_id that points to a request's data",                                         \
	  "IBTA vol. 1, 11.4.2.1; ibv_poll_cq(3), ibv_post_send(3)",                               \
	  "Use a distinct wr_id for each request, and reuse it only after polling the completion") \
	X(WR_ID_FREED, "wr-id-freed", "sum",                                                       \
	  "Memory that a wr_id points to must exist until the completion was polled, "             \
	  "even a flushed one",                                                                    \
	  "IBTA vol. 1, 11.4.2.1; ibv_poll_cq(3)",                                                 \
	  "Move the queue pair to ERR and poll all its completions, or destroy it, "               \
	  "before freeing the memory of its requests")                                             \
	X(POST_AFTER_ERROR, "post-after-error", "sum",                                             \
	  "A completion with an error moves the queue pair to the error state. Requests posted "   \
	  "after that are flushed",                                                                \
	  "IBTA vol. 1, 10.3.1.7; ibv_poll_cq(3)",                                                 \
	  "Check the status of each completion. After an error, reset and reconnect the queue "    \
	  "pair, or destroy it")                                                                   \
	X(CONN_MISMATCH, "conn-mismatch", "sum",                                                   \
	  "Both ends must agree: dest_qp_num is the peer's QP number, path_mtu is equal, and "     \
	  "rq_psn is the peer's sq_psn. max_rd_atomic may not exceed the peer's "                  \
	  "max_dest_rd_atomic",                                                                    \
	  "IBTA vol. 1, 9.7.1 and 11.2.4.2; ibv_modify_qp(3)",                                     \
	  "Let each end send its values to the other, and use the received ones")                  \
	X(CONN_UNANSWERED, "conn-unanswered", "sum",                                               \
	  "A connection or a datagram must name a queue pair of the peer: its number, and "        \
	  "the GID of its own port. The peer's queue pair must be in RTR",                         \
	  "IBTA vol. 1, 9.7.1 and 10.3.1.2; ibv_modify_qp(3)",                                     \
	  "Send qp_num and the GID of the port to the other end, and post sends only after "       \
	  "that end is in RTR")                                                                    \
	X(RECV_SHORT, "recv-short", "sum", "A message must not exceed its receive request",        \
	  "IBTA vol. 1, 9.7.5.2.4 and 10.7.3.1; ibv_post_recv(3)",                                 \
	  "Post receives for the longest message of the peer. Datagrams need 40 bytes "            \
	  "more")                                                                                  \
	X(RECV_MISSING, "recv-missing", "sum",                                                     \
	  "A SEND, or a WRITE with immediate data, needs a receive that the peer has "             \
	  "posted",                                                                                \
	  "IBTA vol. 1, 9.7.5.2.8; ibv_post_recv(3), ibv_modify_qp(3)",                            \
	  "Post receives before the peer sends, limit how many messages it sends at "              \
	  "once, or raise rnr_retry and the peer's min_rnr_timer")                                 \
	X(QKEY_MISMATCH, "qkey-mismatch", "sum",                                                   \
	  "A datagram must carry the Q_Key of the receiving queue pair. The device "               \
	  "drops others silently",                                                                 \
	  "IBTA vol. 1, 10.2.5 and 9.8.3; ibv_post_send(3)",                                       \
	  "Send with the qkey that the receiver has set by ibv_modify_qp")                         \
	X(CONN_RETRIES, "conn-retries", "strict",                                                  \
	  "A connection should survive lost packets and late receives, and should end when the "   \
	  "peer is gone",                                                                          \
	  "IBTA vol. 1, 9.7.5 and 11.2.4.2; ibv_modify_qp(3)",                                     \
	  "Set a timeout (14: 67 ms) and retry_cnt from 1 to 7. Set rnr_retry from 1 to 6, and "   \
	  "min_rnr_timer from 1 (10 us) to 31 (491 ms)")                                           \
	X(LOST_WAKEUP, "lost-wakeup", "sum",                                                       \
	  "Arming requests an event for later completions only. Completions that wait already "    \
	  "raise no event: poll them after arming and before waiting",                             \
	  "IBTA vol. 1, 11.4.2.2; ibv_req_notify_cq(3), ibv_get_cq_event(3)",                      \
	  "Call ibv_req_notify_cq, then ibv_poll_cq until it returns 0, then ibv_get_cq_event")    \
	X(WAIT_UNARMED, "wait-unarmed", "sum",                                                     \
	  "A channel raises an event only for an armed queue, once for each arming, and "          \
	  "only of the kind that it was armed for",                                                \
	  "IBTA vol. 1, 11.4.2.2; ibv_req_notify_cq(3), ibv_get_cq_event(3)",                      \
	  "Call ibv_req_notify_cq before each wait, for solicited events only where the "          \
	  "peer sends with IBV_SEND_SOLICITED, and poll before the wait")                          \
	X(POLL_NOTHING, "poll-nothing", "sum",                                                     \
	  "Only a receive, a request with IBV_SEND_SIGNALED, or a failing request gives a "        \
	  "completion. A move to RESET discards requests without one",                             \
	  "IBTA vol. 1, 10.3.1 and 10.8.6; ibv_post_send(3), ibv_modify_qp(3)",                    \
	  "Post a receive or a signaled request before awaiting its completion. Move the "         \
	  "queue pair to ERR to flush the rest")                                                   \
	X(PEER_WAITS, "peer-waits", "sum", "When two ends wait for each other, one must send",     \
	  "the protocol of the program",                                                           \
	  "Find by both stacks which end should have sent, and whether it posted that")            \
	X(PEER_GONE, "peer-gone", "sum",                                                           \
	  "A peer that is gone, or whose queue pair is in ERR, sends nothing. Receives stay "      \
	  "posted until the own queue pair is moved to ERR",                                       \
	  "IBTA vol. 1, 10.3.1; ibv_modify_qp(3), rdma_disconnect(3)",                             \
	  "Tell the other end before leaving. Move the queue pair to ERR before awaiting "         \
	  "flush completions")                                                                     \
	X(PEER_UNREADY, "peer-unready", "sum",                                                     \
	  "A SEND needs a receive of its peer. With rnr_retry 7 it waits without end",             \
	  "IBTA vol. 1, 9.7.5.2.8; ibv_post_recv(3), ibv_modify_qp(3)",                            \
	  "Post receives before the peer sends, and replace each one that was used")               \
	X(CM_UNREAD, "cm-unread", "sum",                                                           \
	  "Events of rdma_cm make and end connections: each event channel must be read",           \
	  "rdma_get_cm_event(3), rdma_listen(3), rdma_disconnect(3)",                              \
	  "Read the channel with rdma_get_cm_event, in a thread of its own or by poll(2) of "      \
	  "its descriptor, also while completions are awaited")                                    \
	X(CM_UNANSWERED, "cm-unanswered", "sum",                                                   \
	  "A server must accept or reject each connection request. A client must answer the "      \
	  "reply; librdmacm does so for an id that has a queue pair. An end that has read "        \
	  "DISCONNECTED must disconnect or destroy its id, too",                                   \
	  "IBTA vol. 1, 12.9.7; rdma_accept(3), rdma_reject(3), rdma_establish(3), "               \
	  "rdma_disconnect(3)",                                                                    \
	  "Call rdma_accept or rdma_reject for each CONNECT_REQUEST, rdma_establish for "          \
	  "CONNECT_RESPONSE, and rdma_disconnect for DISCONNECTED")                                \
	X(EVENTS_UNACKED, "events-unacked", "sum",                                                 \
	  "Destroying an object blocks until all its events are acknowledged",                     \
	  "ibv_get_cq_event(3), ibv_get_async_event(3)",                                           \
	  "Call ibv_ack_cq_events or ibv_ack_async_event for each event that was read")            \
	X(EVENTS_OVERACKED, "events-overacked", "sum",                                             \
	  "Each event must be acknowledged exactly once. Destroying an object blocks until the "   \
	  "numbers of read and acknowledged events are equal",                                     \
	  "ibv_get_cq_event(3), ibv_get_async_event(3)",                                           \
	  "Acknowledge only if the call that reads an event has returned 0, and once for each "    \
	  "event")                                                                                 \
	X(FORK_UNSAFE, "fork-unsafe", "sum",                                                       \
	  "After a fork, writes of the parent may go to new pages, while the adapter keeps "       \
	  "the old ones. ibv_fork_init keeps registered memory from the child. A child "           \
	  "cannot use its parent's objects",                                                       \
	  "ibv_fork_init(3), ibv_is_fork_initialized(3)",                                          \
	  "Fork before registering memory, or call ibv_fork_init before the first "                \
	  "registration. Open the device again in the child")                                      \
	X(OBJECT_BUSY, "object-busy", "sum",                                                       \
	  "An object that other objects use cannot be destroyed (EBUSY)",                          \
	  "IBTA vol. 1, 10.2; the manual page of the call",                                        \
	  "Destroy the objects that use it first, and check the call's return value")              \
	X(OBJECT_GONE, "object-gone", "sum",                                                       \
	  "A destroyed object must not be used: another object may have its memory",               \
	  "IBTA vol. 1, 10.2; the manual page of the call that destroyed it",                      \
	  "Destroy the object after its last use, and set the pointer to NULL. Remove "            \
	  "it from lists and inform other threads first")                                          \
	X(VERB_CRASHED, "verb-crashed", "sum",                                                     \
	  "The arguments of a verb must be valid until it returns: objects, lists and "            \
	  "elements",                                                                              \
	  "the manual page of the call",                                                           \
	  "Look for the argument of the innermost call that is no valid pointer: never "           \
	  "set, set to NULL, an overwritten object, or a list without a final NULL")               \
	X(DESTROY_POSTING, "destroy-posting", "sum",                                               \
	  "No thread may be in, or begin, a call on an object that is being destroyed: the call "  \
	  "would use freed memory",                                                                \
	  "ibv_destroy_qp(3), ibv_destroy_cq(3), ibv_destroy_srq(3)",                              \
	  "Stop or join the threads that post and poll before destroying the object")              \
	X(THREADS_CLASH, "threads-clash", "sum",                                                   \
	  "Single-threaded CQs and objects of a thread domain have no locks: only one thread at "  \
	  "a time may use them, or anything of that domain",                                       \
	  "ibv_create_cq_ex(3), ibv_alloc_td(3), ibv_alloc_parent_domain(3)",                      \
	  "Protect the object by a lock of the program, or create it without "                     \
	  "IBV_CREATE_CQ_ATTR_SINGLE_THREADED or thread domain")                                   \
	X(LEFT_AT_EXIT, "left-at-exit", "sum",                                                     \
	  "A program must destroy the objects that it creates: verbs has no other owner before "   \
	  "the process ends",                                                                      \
	  "IBTA vol. 1, 10.2; ibv_create_qp(3), ibv_reg_mr(3)",                                    \
	  "Destroy the object before exit, in the reverse order of creation")                      \
	X(UD_RECV_SHORT, "ud-recv-short", "sum",                                                   \
	  "A receive for datagrams needs 40 bytes for the GRH and room for the message. "          \
	  "The device drops a longer datagram silently",                                           \
	  "IBTA vol. 1, 11.4.1.2, and annex A17.4.5.2; ibv_post_recv(3)",                          \
	  "Post receives of 40 bytes more than the longest message, and read the "                 \
	  "message behind them")                                                                   \
	X(INLINE_UNASKED, "inline-unasked", "sum",                                                 \
	  "A request may have as much inline data as the program asked for. Some "                 \
	  "adapters grant no more",                                                                \
	  "ibv_create_qp(3), ibv_post_send(3)",                                                    \
	  "Ask for it with cap.max_inline_data at creation, and use the value that "               \
	  "ibv_create_qp returns")                                                                 \
	X(ATOMIC_UNALIGNED, "atomic-unaligned", "sum",                                             \
	  "The remote address of an atomic must be a multiple of 8, and its element "              \
	  "must have 8 bytes. The responder refuses others",                                       \
	  "IBTA vol. 1, 9.4.5; ibv_post_send(3)",                                                  \
	  "Align the remote variable to 8 bytes, and post an element of 8 bytes")                  \
	X(KEY_DEVICE, "key-device", "sum",                                                         \
	  "A key is valid on the device and in the context of its region only. "                   \
	  "Elsewhere the same number is no key, or names another region",                          \
	  "IBTA vol. 1, 10.2.3 and 10.6.3; ibv_reg_mr(3)",                                         \
	  "Register the memory with each device, and use the key of the queue pair's "             \
	  "device. For an R_Key, that is the device of the peer's queue pair")                     \
	X(SRQ_UNDRAINED, "srq-undrained", "sum",                                                   \
	  "A queue pair takes receives from its SRQ before messages arrive. It returns "           \
	  "them as flushed completions in the error state, until "                                 \
	  "IBV_EVENT_QP_LAST_WQE_REACHED",                                                         \
	  "IBTA vol. 1, 10.3.1 and 11.6.3; ibv_get_async_event(3), ibv_destroy_qp(3)",             \
	  "Move the queue pair to IBV_QPS_ERR, wait for IBV_EVENT_QP_LAST_WQE_REACHED, "           \
	  "poll the completions, then destroy it")                                                 \
	X(WC_UNSET, "wc-unset", "sum",                                                             \
	  "In a failed completion only wr_id, status, vendor_err and qp_num are valid",            \
	  "IBTA vol. 1, 11.4.2.1; ibv_poll_cq(3), ibv_create_cq_ex(3)",                            \
	  "Check the status first, and find the request's data by its wr_id")                      \
	X(PEER_ELSEWHERE, "peer-elsewhere", "note",                                                \
	  "A process that waits for completions only depends on its peers",                        \
	  "the protocol of the program",                                                           \
	  "Look at what the peer waits for. A server that waits for clients needs no change")      \
	X(CALL_REFUSED, "call-refused", "note",                                                    \
	  "A failing call has no effect, and its errno value gives only the kind of the error",    \
	  "the manual page of the call",                                                           \
	  "Set the named attribute to a value that the device accepts. A program that probes the " \
	  "device and has a fallback needs no change")                                             \
	X(COMPLETION_FAILED, "completion-failed", "note",                                          \
	  "The status of a failed completion gives only the kind of the error", "ibv_poll_cq(3)",  \
	  "Correct the named cause. A program that expects failures, such as after the "           \
	  "end of its peer, needs no change")                                                      \
	X(PORTABLE, "portable", "portable",                                                        \
	  "A program should use only features and limits that all its target adapters have",       \
	  "published data of the adapters: emu/abi/adapters.h, docs/reference/limits.md",          \
	  "Query the device (ibv_query_device_ex, ibv_create_qp) and fall back, or request less. " \
	  "If these adapters do not matter, leave the check out")

enum uhca_check {
#define UHCA_CHECK_ID(id, name, group, rule, where, mend) UHCA_CHECK_##id,
	UHCA_CHECKS(UHCA_CHECK_ID)
#undef UHCA_CHECK_ID
		UHCA_CHECK_COUNT
};

#endif
