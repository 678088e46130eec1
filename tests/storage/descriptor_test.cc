// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <fcntl.h>

#include <gtest/gtest.h>

#include <hesscope/storage/descriptor.h>

namespace hesscope::io {
namespace {

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

int opened() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(Descriptor, IsClosedAtItsEnd) {
  int number = -1;
  {
    const Descriptor descriptor(opened());
    number = descriptor.number();
    ASSERT_TRUE(descriptor.is_open());
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, MovesToAnotherOwner) {
  Descriptor first(opened());
  const int number = first.number();
  Descriptor second = std::move(first);
  EXPECT_EQ(second.number(), number);
  EXPECT_TRUE(is_open(number));
  second = Descriptor(opened());  // the one it had is closed
  EXPECT_TRUE(is_open(second.number()));
  EXPECT_FALSE(is_open(number));
  const int last = second.number();
  second = {};
  EXPECT_FALSE(second.is_open());
  EXPECT_FALSE(is_open(last));
}

TEST(Descriptor, IsNoneOfAFailedCall) {
  const Descriptor none(::open("/nowhere/at/all", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(none.is_open());
}

}  // namespace
}  // namespace hesscope::io
