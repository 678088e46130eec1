// SPDX-License-Identifier: BSD-3-Clause
//
// What tests of run_analysis() begin with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/analysis/analysis.h>

#include "support/files.h"

namespace hesscope::test {

inline const std::filesystem::path kRuns =
    std::filesystem::path(HESSCOPE_TEST_DATA) / "linear-attention";

/// An analysis of five checkpoints into a folder of its own.
class AnalysisOfFiles : public ::testing::Test {
 protected:
  AnalysisOfFiles() {
    request_.checkpoints = expand_checkpoints({kRuns / "adam"});
    request_.problem = kRuns / "problem.toml";
    request_.output = folder_ / "result.h5";
    request_.num_threads = 2;
    request_.command = "a test";
  }

  /// What stands in the folder.
  std::vector<std::string> left_behind() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  ScratchFolder folder_;
  AnalysisRequest request_;
};

}  // namespace hesscope::test
