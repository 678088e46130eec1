// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>

namespace hesscope::test {

/// Expects that call() throws an E whose message contains `message`.
template <typename E = PreconditionError, typename Call>
void expect_refusal(const Call& call, const std::string& message) {
  try {
    call();
    ADD_FAILURE() << "not refused; expected: " << message;
  } catch (const E& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(message));
  }
}

}  // namespace hesscope::test
