// SPDX-License-Identifier: BSD-3-Clause
//
// The steps of tests/fixtures that have golden numbers, and their checkpoints.
#pragma once

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/files.h"

namespace hesscope::test {

struct Golden {
  std::filesystem::path folder;
  std::string step;  // "000250"

  std::filesystem::path file() const { return folder / ("golden-" + step + ".npz"); }

  // Where the step's checkpoints lie: those of the runs in data/ have their .npz there.
  std::filesystem::path checkpoint(const std::string& extension) const {
    const std::string name = "step-" + step + extension;
    const std::string run = folder.filename().string();
    const std::string prefix = "linear-attention-s1-";
    if (extension == ".npz" && run.starts_with(prefix)) {
      return std::filesystem::path(HESSCOPE_TEST_DATA) / "linear-attention" /
             run.substr(prefix.size()) / name;
    }
    return folder / name;
  }
};

inline void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.file().string(); }

inline std::vector<Golden> goldens() {
  std::vector<Golden> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(fixtures())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("golden-") && name.ends_with(".npz")) {
      found.push_back({entry.path().parent_path(), name.substr(7, 6)});
    }
  }
  std::sort(found.begin(), found.end(), [](const Golden& a, const Golden& b) {
    return a.file() < b.file();
  });
  return found;
}

inline std::string golden_name(const testing::TestParamInfo<Golden>& instance) {
  std::string name = instance.param.folder.filename().string() + "_" + instance.param.step;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace hesscope::test
