// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <hesscope/core/article.h>

namespace hesscope {
namespace {

TEST(WithArticle, FollowsTheSound) {
  for (const char* noun :
       {"an experiment file", "an attention model", "an mlp model", "an SVG", "an onnx model"}) {
    EXPECT_EQ(with_article(noun + 3), noun);
  }
  for (const char* noun :
       {"a problem file", "a map file", "a linear-attention model", "a csv file", "a VTK file"}) {
    EXPECT_EQ(with_article(noun + 2), noun);
  }
  EXPECT_EQ(with_article(""), "a ");
}

}  // namespace
}  // namespace hesscope
