/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adapters that programs meet, as they are published: what they lack of what this device has, and
 * their numbers. Data, for two readers: the core makes profiles of it (emu/core/profile.c), the
 * sanitizer says by it which of them a program leans away from (provider/portability).
 *
 * The source of each line stands beside it. What has no source is not here, and is then as in the
 * profile "default"; docs/reference/limits.md names what that is. Paths that begin with drivers/
 * are of Linux, those with providers/ of rdma-core, github.com/... is a listing of ibv_devinfo -v.
 * An operation that the adapter's provider has no function for is missing, whatever the kernel
 * driver has.
 */
#ifndef UHCA_ABI_ADAPTERS_H
#define UHCA_ABI_ADAPTERS_H

#include "cmd_query.h"

/* How an adapter differs where no feature (UHCA_ABI_HAS_*) and no limit says it. */
enum {
	UHCA_ADAPTER_NO_RC = 1 << 0,
	UHCA_ADAPTER_NO_SEND_IMM = 1 << 1,
	UHCA_ADAPTER_NO_WRITE_IMM = 1 << 2,
	UHCA_ADAPTER_RNIC = 1 << 3,          /* node type 4, transport iWARP */
	UHCA_ADAPTER_UNSPECIFIED = 1 << 4,   /* node type 7, transport unspecified */
	UHCA_ADAPTER_STRICT_ARMING = 1 << 5, /* arming raises no event for what waits */
	UHCA_ADAPTER_NO_SRQ_RESIZE = 1 << 6,
	UHCA_ADAPTER_MLX5_ERRORS = 1 << 7, /* vendor errors and hw_counters as mlx5 has them */
	UHCA_ADAPTER_COMP_CNTR = 1 << 8,   /* it counts completions */
};

/* This device's own direct verbs: no adapter has them as they are here. */
#define UHCA_ADAPTER_OWN                                                                           \
	(UHCA_ABI_HAS_FAST_REG | UHCA_ABI_HAS_BLOCK_LIST | UHCA_ABI_HAS_INTERLEAVED |              \
	 UHCA_ABI_HAS_SG | UHCA_ABI_HAS_READ_WITH_INV | UHCA_ABI_HAS_MASKED_ATOMICS |              \
	 UHCA_ABI_HAS_MASKED_ATOMIC_SIZES | UHCA_ABI_HAS_LOW_LATENCY)

#define UHCA_ADAPTER_WINDOWS                                                                       \
	(UHCA_ABI_HAS_MW_TYPE_1 | UHCA_ABI_HAS_MW_TYPE_2A | UHCA_ABI_HAS_MW_TYPE_2B)

/*
 * ConnectX-5. providers/mlx5/mlx5.c: functions for windows, rereg_mr, resize_cq, SRQ, XRC, groups;
 * providers/mlx5 has none for FLUSH and ATOMIC WRITE.
 */
#define UHCA_ADAPTER_CX5_LACKS (UHCA_ADAPTER_OWN | UHCA_ABI_HAS_FLUSH | UHCA_ABI_HAS_ATOMIC_WRITE)
/* drivers/infiniband/hw/mlx5/srq.c: mlx5_ib_modify_srq refuses IB_SRQ_MAX_WR. */
#define UHCA_ADAPTER_CX5_IS    (UHCA_ADAPTER_NO_SRQ_RESIZE | UHCA_ADAPTER_MLX5_ERRORS)
/*
 * github.com/open-mpi/ompi/pull/6137 (part 4119, firmware 16.23.1020); atomic_cap ATOMIC_HCA there,
 * MEM_WINDOW, MEM_WINDOW_TYPE_2B and XRC in github.com/openucx/ucx/issues/9830 (part 4119).
 */
#define UHCA_ADAPTER_CX5_LISTED(L)                                                                 \
	L(max_qp, 262144)                                                                          \
	L(max_qp_wr, 32768)                                                                        \
	L(max_sge, 30)                                                                             \
	L(max_cq, 16777216)                                                                        \
	L(max_cqe, 4194303)                                                                        \
	L(max_mr, 16777216)                                                                        \
	L(max_pd, 16777216)                                                                        \
	L(max_rd_atomic, 16)
/*
 * mp.weixin.qq.com/s?__biz=MzAwMDc2NjQ4Nw==&mid=2663507268 (ConnectX-5 Ex, part 4121, firmware
 * 16.32.1010, which agrees with the above but for max_qp and max_pd).
 */
#define UHCA_ADAPTER_CX5_LIMITS(L)                                                                 \
	UHCA_ADAPTER_CX5_LISTED(L)                                                                 \
	L(max_mw, 16777216)                                                                        \
	L(max_ah, 2147483647)                                                                      \
	L(max_srq, 8388608)                                                                        \
	L(max_srq_wr, 32767)                                                                       \
	L(max_srq_sge, 31)                                                                         \
	L(max_mcast_grp, 2097152)                                                                  \
	L(max_mcast_qp_attach, 240)                                                                \
	L(max_dm_size, 131072)

/*
 * ConnectX-7. The same functions (providers/mlx5/mlx5.c has part 0x1021 in its list); of its
 * numbers no listing was found.
 */
#define UHCA_ADAPTER_CX7_LACKS UHCA_ADAPTER_CX5_LACKS
#define UHCA_ADAPTER_CX7_IS    UHCA_ADAPTER_CX5_IS
#define UHCA_ADAPTER_CX7_LIMITS(L)

/*
 * Intel E810, RoCEv2. providers/irdma/umain.c: no functions for XRC, device memory, raw packets,
 * receive side scaling, and SRQs only for later parts. The listing below: ATOMIC_NONE, max_srq 0,
 * no ODP. drivers/infiniband/hw/irdma/verbs.c (irdma_validate_qp_attrs): RC and UD, no creation
 * flags.
 */
#define UHCA_ADAPTER_E810_LACKS                                                                    \
	(UHCA_ADAPTER_OWN | UHCA_ABI_HAS_FLUSH | UHCA_ABI_HAS_ATOMIC_WRITE | UHCA_ABI_HAS_UC |     \
	 UHCA_ABI_HAS_XRC | UHCA_ABI_HAS_SRQ | UHCA_ABI_HAS_ATOMICS | UHCA_ABI_HAS_ODP |           \
	 UHCA_ABI_HAS_DM | UHCA_ABI_HAS_RAW_PACKET | UHCA_ABI_HAS_RSS |                            \
	 UHCA_ABI_HAS_BLOCK_LOOPBACK)
#define UHCA_ADAPTER_E810_IS 0
/*
 * github.com/deepseek-ai/3FS/issues/192 (part 5522, firmware 1.74). The driver of Linux says
 * otherwise of max_sge (13) and of the depth of READs.
 */
#define UHCA_ADAPTER_E810_LISTED(L)                                                                \
	L(max_mr_size, 0x200000000000)                                                             \
	L(max_qp, 4092)                                                                            \
	L(max_qp_wr, 8127)                                                                         \
	L(max_sge, 6)                                                                              \
	L(max_cq, 8189)                                                                            \
	L(max_cqe, 1048574)                                                                        \
	L(max_mr, 4194301)                                                                         \
	L(max_pd, 262141)                                                                          \
	L(max_rd_atomic, 8)                                                                        \
	L(max_mcast_grp, 4096)                                                                     \
	L(max_mcast_qp_attach, 8)                                                                  \
	L(max_ah, 131072)
/* drivers/infiniband/hw/irdma: verbs.c (max_mw is max_mr), user.h (IRDMA_MAX_INLINE_DATA_SIZE). */
#define UHCA_ADAPTER_E810_LIMITS(L)                                                                \
	UHCA_ADAPTER_E810_LISTED(L)                                                                \
	L(max_mw, 4194301)                                                                         \
	L(max_inline_data, 101)

/*
 * Broadcom NetXtreme-E, BCM575xx. providers/bnxt_re/main.c: no functions for windows, rereg_mr,
 * groups, XRC, ODP, device memory, receive side scaling. drivers/infiniband/hw/bnxt_re/ib_verbs.c:
 * RC, UD and raw packets, no UC (__from_ib_qp_type); atomic_cap is ATOMIC_NONE where the PCIe above
 * does not complete atomics, else ATOMIC_GLOB: here it is the former.
 */
#define UHCA_ADAPTER_BNXT_LACKS                                                                    \
	(UHCA_ADAPTER_OWN | UHCA_ADAPTER_WINDOWS | UHCA_ABI_HAS_FLUSH |                            \
	 UHCA_ABI_HAS_ATOMIC_WRITE | UHCA_ABI_HAS_UC | UHCA_ABI_HAS_XRC | UHCA_ABI_HAS_ATOMICS |   \
	 UHCA_ABI_HAS_REREG | UHCA_ABI_HAS_MCAST | UHCA_ABI_HAS_ODP | UHCA_ABI_HAS_DM |            \
	 UHCA_ABI_HAS_RSS)
/* drivers/infiniband/hw/bnxt_re/ib_verbs.c: bnxt_re_modify_srq refuses IB_SRQ_MAX_WR. */
#define UHCA_ADAPTER_BNXT_IS UHCA_ADAPTER_NO_SRQ_RESIZE
/*
 * drivers/infiniband/hw/bnxt_re: bnxt_re.h (BNXT_RE_MAX_*_COUNT, BNXT_RE_MAX_MR_SIZE), qplib_sp.c
 * (max_pd; 6 elements, as of chips of generation P5), qplib_sp.h (BNXT_QPLIB_MAX_OUT_RD_ATOM),
 * qplib_fp.h (BNXT_QPLIB_SWQE_MAX_INLINE_LENGTH). They are the driver's bounds; a card may have
 * less.
 */
#define UHCA_ADAPTER_BNXT_LIMITS(L)                                                                \
	L(max_mr_size, 0x8000000000)                                                               \
	L(max_qp, 65536)                                                                           \
	L(max_sge, 6)                                                                              \
	L(max_cq, 65536)                                                                           \
	L(max_mr, 262144)                                                                          \
	L(max_pd, 65536)                                                                           \
	L(max_srq, 65536)                                                                          \
	L(max_rd_atomic, 126)                                                                      \
	L(max_inline_data, 96)

/*
 * Amazon EFA, of which only the UD queue pairs are here: SRD is a transport of its own.
 * drivers/infiniband/hw/efa: efa_verbs.c has no other types, no SRQ, no creation flags
 * (efa_qp_validate_attr), no capabilities (efa_query_device), efa_main.c the node type.
 * providers/efa/efa.c: no functions for windows, rereg_mr, resize_cq, SRQ, groups; of release 65
 * on those of completion counters, which no other provider has.
 */
#define UHCA_ADAPTER_EFA_LACKS                                                                     \
	(UHCA_ADAPTER_OWN | UHCA_ADAPTER_WINDOWS | UHCA_ABI_HAS_FLUSH |                            \
	 UHCA_ABI_HAS_ATOMIC_WRITE | UHCA_ABI_HAS_UC | UHCA_ABI_HAS_XRC | UHCA_ABI_HAS_SRQ |       \
	 UHCA_ABI_HAS_ATOMICS | UHCA_ABI_HAS_INVALIDATE | UHCA_ABI_HAS_INV_FENCE |                 \
	 UHCA_ABI_HAS_REREG | UHCA_ABI_HAS_RESIZE_CQ | UHCA_ABI_HAS_MCAST | UHCA_ABI_HAS_ODP |     \
	 UHCA_ABI_HAS_DM | UHCA_ABI_HAS_RAW_PACKET | UHCA_ABI_HAS_RSS |                            \
	 UHCA_ABI_HAS_BLOCK_LOOPBACK)
#define UHCA_ADAPTER_EFA_IS (UHCA_ADAPTER_NO_RC | UHCA_ADAPTER_UNSPECIFIED | UHCA_ADAPTER_COMP_CNTR)
/* drivers/infiniband/hw/efa/efa_io_defs.h: EFA_IO_TX_DESC_NUM_BUFS, _INLINE_MAX_SIZE. */
#define UHCA_ADAPTER_EFA_LIMITS(L)                                                                 \
	L(max_sge, 2)                                                                              \
	L(max_inline_data, 32)

/*
 * Linux soft-RoCE. providers/rxe/rxe.c: functions for windows, resize_cq, SRQ, groups, none for
 * rereg_mr, XRC, device memory, receive side scaling. drivers/infiniband/sw/rxe/rxe_verbs.c
 * (rxe_req_notify_cq): arming does not look at what waits.
 */
#define UHCA_ADAPTER_RXE_LACKS                                                                     \
	(UHCA_ADAPTER_OWN | UHCA_ABI_HAS_XRC | UHCA_ABI_HAS_REREG | UHCA_ABI_HAS_ODP |             \
	 UHCA_ABI_HAS_DM | UHCA_ABI_HAS_RAW_PACKET | UHCA_ABI_HAS_RSS)
#define UHCA_ADAPTER_RXE_IS UHCA_ADAPTER_STRICT_ARMING
/*
 * drivers/infiniband/sw/rxe/rxe_param.h of Linux 6.2 (DEFAULT_MAX_VALUE is 1048576; inline data is
 * the room of 32 elements of 16 bytes).
 */
#define UHCA_ADAPTER_RXE_LIMITS(L)                                                                 \
	L(max_qp, 1048560)                                                                         \
	L(max_qp_wr, 1048576)                                                                      \
	L(max_sge, 32)                                                                             \
	L(max_cq, 1048576)                                                                         \
	L(max_cqe, 32767)                                                                          \
	L(max_mr, 524287)                                                                          \
	L(max_pd, 1048576)                                                                         \
	L(max_mw, 524287)                                                                          \
	L(max_ah, 32767)                                                                           \
	L(max_srq, 917503)                                                                         \
	L(max_srq_wr, 1048576)                                                                     \
	L(max_srq_sge, 27)                                                                         \
	L(max_rd_atomic, 128)                                                                      \
	L(max_mcast_grp, 8192)                                                                     \
	L(max_mcast_qp_attach, 56)                                                                 \
	L(max_inline_data, 512)

/*
 * Linux soft-iWARP. providers/siw/siw.c: no functions for windows, rereg_mr, groups, XRC, ODP,
 * device memory, receive side scaling; siw_resize_cq answers EOPNOTSUPP; completions carry no
 * immediate data (copy_cqe); siw_modify_srq of drivers/infiniband/sw/siw resizes nothing;
 * siw_notify_cq stores a flag and looks at nothing. RC is all that iWARP has (RFC 5040), atomics
 * are not in it; one element to a READ: siw.h, SIW_MAX_SGE_RD.
 */
#define UHCA_ADAPTER_SIW_LACKS                                                                     \
	(UHCA_ADAPTER_OWN | UHCA_ADAPTER_WINDOWS | UHCA_ABI_HAS_FLUSH |                            \
	 UHCA_ABI_HAS_ATOMIC_WRITE | UHCA_ABI_HAS_UC | UHCA_ABI_HAS_UD | UHCA_ABI_HAS_XRC |        \
	 UHCA_ABI_HAS_ATOMICS | UHCA_ABI_HAS_REREG | UHCA_ABI_HAS_RESIZE_CQ | UHCA_ABI_HAS_MCAST | \
	 UHCA_ABI_HAS_ODP | UHCA_ABI_HAS_DM | UHCA_ABI_HAS_RAW_PACKET | UHCA_ABI_HAS_RSS)
#define UHCA_ADAPTER_SIW_IS                                                                        \
	(UHCA_ADAPTER_RNIC | UHCA_ADAPTER_NO_SEND_IMM | UHCA_ADAPTER_NO_WRITE_IMM |                \
	 UHCA_ADAPTER_STRICT_ARMING | UHCA_ADAPTER_NO_SRQ_RESIZE)
/*
 * drivers/infiniband/sw/siw/siw.h (SIW_MAX_*; struct siw_wqe has SIW_MAX_SGE elements for every
 * receive), include/uapi/rdma/siw-abi.h (SIW_MAX_SGE, SIW_MAX_INLINE: 5 elements of 16 bytes).
 */
#define UHCA_ADAPTER_SIW_LIMITS(L)                                                                 \
	L(max_qp, 102400)                                                                          \
	L(max_qp_wr, 32768)                                                                        \
	L(max_sge, 6)                                                                              \
	L(max_cq, 102400)                                                                          \
	L(max_cqe, 3276800)                                                                        \
	L(max_mr, 1024000)                                                                         \
	L(max_pd, 102400)                                                                          \
	L(max_srq, 102400)                                                                         \
	L(max_srq_wr, 327680)                                                                      \
	L(max_srq_sge, 6)                                                                          \
	L(max_rd_atomic, 128)                                                                      \
	L(max_inline_data, 80)

/*
 * Microsoft MANA. providers/mana/qp.c: RC and raw packets, no other types; mana.c: no functions for
 * rereg_mr, resize_cq, SRQ, groups, XRC, address handles; wr.c: SEND, WRITE (both with immediate
 * data) and READ, nothing is bound or invalidated, and inline data is not looked at.
 * drivers/infiniband/hw/mana/main.c: ATOMIC_NONE, of the capabilities only RC_RNR_NAK_GEN.
 */
#define UHCA_ADAPTER_MANA_LACKS                                                                    \
	(UHCA_ADAPTER_OWN | UHCA_ADAPTER_WINDOWS | UHCA_ABI_HAS_FLUSH |                            \
	 UHCA_ABI_HAS_ATOMIC_WRITE | UHCA_ABI_HAS_UC | UHCA_ABI_HAS_UD | UHCA_ABI_HAS_XRC |        \
	 UHCA_ABI_HAS_SRQ | UHCA_ABI_HAS_ATOMICS | UHCA_ABI_HAS_INVALIDATE |                       \
	 UHCA_ABI_HAS_INV_FENCE | UHCA_ABI_HAS_REREG | UHCA_ABI_HAS_RESIZE_CQ |                    \
	 UHCA_ABI_HAS_MCAST | UHCA_ABI_HAS_ODP)
#define UHCA_ADAPTER_MANA_IS 0
/*
 * include/net/mana/gdma.h: MAX_RX_WQE_SGL_ENTRIES is (256 - 16) / 16; libibverbs reports the lesser
 * of sends (30) and receives. The rest of its numbers the card tells the driver.
 */
#define UHCA_ADAPTER_MANA_LIMITS(L)                                                                \
	L(max_sge, 15)                                                                             \
	L(max_inline_data, 0)

/*
 * X(ID, name): UHCA_ADAPTER_ID_LACKS, UHCA_ADAPTER_ID_IS and UHCA_ADAPTER_ID_LIMITS are its data.
 */
#define UHCA_ADAPTERS(X)                                                                           \
	X(CX5, "cx5")                                                                              \
	X(CX7, "cx7")                                                                              \
	X(E810, "e810")                                                                            \
	X(BNXT, "bnxt")                                                                            \
	X(EFA, "efa")                                                                              \
	X(RXE, "rxe")                                                                              \
	X(SIW, "siw")                                                                              \
	X(MANA, "mana")

#endif
