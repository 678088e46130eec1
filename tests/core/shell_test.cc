// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <gtest/gtest.h>

#include <hesscope/core/shell.h>

namespace hesscope {
namespace {

TEST(Shell, QuotesWhatNeedsIt) {
  for (const std::string plain : {"step-000500.npz", "/a/b_c.h5", "-2:2,0:1", "training.steps=100"})
    EXPECT_EQ(shell_word(plain), plain);
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b.npz"), "'a b.npz'");
  EXPECT_EQ(shell_word("seeds=[0]"), "'seeds=[0]'");
  EXPECT_EQ(shell_word("~/$HOME*?"), "'~/$HOME*?'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("caf\xe9"), "'caf\xe9'");
}

TEST(Shell, WritesWhatATerminalWouldObeyWithBackslashes) {
  EXPECT_EQ(pasted_word("a.h5"), "a.h5");
  EXPECT_EQ(pasted_word("na\u00efve run.h5"), "'na\u00efve run.h5'");
  EXPECT_EQ(pasted_word("\x1b[31m\n.h5"), "$'\\033[31m\\012.h5'");
  EXPECT_EQ(pasted_word("it's \\ caf\xe9"), "$'it\\'s \\\\ caf\\351'");
}

}  // namespace
}  // namespace hesscope
