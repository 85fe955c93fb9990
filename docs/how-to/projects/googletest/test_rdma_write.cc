/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests with GoogleTest, on a device of their own. */
#include "rdma_write.h"

#include <cerrno>
#include <gtest/gtest.h>
#include <uhca_fixture.h>

class RdmaWrite : public ::testing::Test
{
protected:
	void *ctl = nullptr;

	void SetUp() override { ASSERT_EQ(uhca_fixture_open(&ctl), 0); }

	void TearDown() override
	{
		if (ctl) {
			EXPECT_EQ(uhca_fixture_close(&ctl), 0);
		}
	}

	/* Puts a rule in force until the end of the test. */
	int rule(const char *text)
	{
		struct uhcactl_error error = {};
		int number = uhcactl_fault_add(static_cast<uhcactl *>(ctl), text, &error);

		EXPECT_GT(number, 0) << error.text;
		return number;
	}

	int64_t hits(int number)
	{
		return uhcactl_fault_hits(static_cast<uhcactl *>(ctl), number, nullptr);
	}
};

TEST_F(RdmaWrite, NoRegistration)
{
	rule("call.fail=ENOMEM call=reg_mr");
	EXPECT_EQ(rdma_write_loopback(1), -ENOMEM);
}

TEST_F(RdmaWrite, BytesArrive)
{
	EXPECT_EQ(rdma_write_loopback(1), 0);
	EXPECT_EQ(rdma_write_loopback(65536), 0);
}

TEST_F(RdmaWrite, LostPacketIsSentAgain)
{
	int lost = rule("drop opcode=rc.write nth=2");

	EXPECT_EQ(rdma_write_loopback(10000), 0);
	EXPECT_EQ(hits(lost), 1);
}

int main(int argc, char **argv)
{
	uhca_fixture_enter(argc, argv, nullptr);
	::testing::InitGoogleTest(&argc, argv);
	return RUN_ALL_TESTS();
}
