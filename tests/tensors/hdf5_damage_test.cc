// SPDX-License-Identifier: BSD-3-Clause
//
// Damaged HDF5 files, checkpoints and results, which crash and hang the HDF5 library now and then:
// the program lives, and has an answer in time. HESSCOPE_HDF5_MUTANTS sets how many are tried,
// HESSCOPE_HDF5_FLIPS=N tries every Nth bit and prefix, of the Kth file only with
// HESSCOPE_HDF5_FILE=K.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/dataset/result_file.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "tensors/reader_fixtures.h"

namespace {

using hesscope::InputError;
using hesscope::VariableType;
using hesscope::io::ResultFile;
using hesscope::io::ResultReader;
using hesscope::test::all_values;
using hesscope::test::PythonFiles;
using hesscope::test::ScratchFolder;

/// What came of files opened and read one after the other.
class Outcomes {
 public:
  using Read = std::function<void(const std::filesystem::path&)>;

  explicit Outcomes(Read read) : read_(std::move(read)) {}

  void try_bytes(const std::string& bytes, const std::string& what) {
    const std::filesystem::path path = scratch_ / "damaged.h5";
    hesscope::test::write_anew(path, bytes);
    const auto begin = std::chrono::steady_clock::now();
    const std::string outcome = outcome_of(path);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (++counts_[outcome] <= 20 && outcome != "read" && outcome != "refused") {
      notes_ += fmt::format("  {}: {}\n", what, outcome);
    }
    slowest_ = std::max(slowest_, {seconds, what});
    EXPECT_LT(seconds, 30) << what;
  }

  std::size_t num_tried() const {
    std::size_t sum = 0;
    for (const auto& [outcome, count] : counts_) sum += count;
    return sum;
  }

  bool has(const std::string& outcome) const { return counts_.contains(outcome); }

  std::string summary() const {
    std::string text = notes_;
    for (const auto& [outcome, count] : counts_) text += fmt::format("{}: {}\n", outcome, count);
    return text + fmt::format("slowest: {:.3f} s, {}\n", slowest_.first, slowest_.second);
  }

 private:
  std::string outcome_of(const std::filesystem::path& path) const {
    try {
      read_(path);
      return "read";
    } catch (const InputError& error) {
      const std::string message = error.what();
      const std::size_t crash = message.find("crashed with signal");
      if (crash != std::string::npos) return message.substr(crash, message.find(" while") - crash);
      for (const char* const end : {"was stopped", "was killed", "ended with", "malformed reply"}) {
        if (message.find(end) != std::string::npos) return end;
      }
      return "refused";
    }
  }

  Read read_;
  ScratchFolder scratch_;
  std::map<std::string, std::size_t> counts_;
  std::pair<double, std::string> slowest_;
  std::string notes_;
};

void read_checkpoint(const std::filesystem::path& path) {
  all_values(hesscope::io::open_tensor_file(path));
}

void read_result(const std::filesystem::path& path) {
  const ResultReader result(path);
  for (const auto& group : result.groups()) {
    for (const auto& variable : group.variables) {
      if (variable.type == VariableType::kDouble) result.read_doubles(group.name, variable.name);
      if (variable.type == VariableType::kText) result.read_text(group.name, variable.name);
      if (variable.type == VariableType::kInt64 || variable.type == VariableType::kInt8) {
        result.read_integers(group.name, variable.name);
      }
    }
  }
}

/// A result with all types, and one variable in compressed chunks.
std::string small_result() {
  const ScratchFolder scratch;
  ResultFile file(scratch / "result.h5");
  file.set_attribute("", {"hesscope_schema_version", std::string("1.0.0")});
  file.set_attribute("", {"numbers", std::vector<double>{1, 2, 3}});
  file.define_dimension("", "checkpoint", 3);
  file.define_dimension("g", "index", 20000);
  const auto define = [&](const std::string& group, const std::string& name, VariableType type) {
    file.define_variable(group,
                         {.name = name,
                          .type = type,
                          .dimensions = {"checkpoint"},
                          .long_name = "",
                          .definition = "a formula"});
  };
  define("", "name", VariableType::kText);
  define("", "step", VariableType::kInt64);
  define("g", "status", VariableType::kInt8);
  file.define_variable(
      "g",
      {.name = "many", .dimensions = {"checkpoint", "index"}, .long_name = "", .definition = ""});
  const std::vector<std::string> names = {"a", "b", "c"};
  file.write("", "name", std::span<const std::string>(names));
  const std::vector<double> many(3 * 20000, 1.5);
  file.write("g", "many", std::span<const double>(many));
  file.commit();
  return hesscope::test::read_bytes(scratch / "result.h5");
}

std::size_t number_wanted(const char* variable, std::size_t otherwise) {
  const char* const wanted = std::getenv(variable);
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : otherwise;
}

std::vector<std::pair<std::string, std::string>> small_files() {
  const PythonFiles files("hdf5-small");
  std::vector<std::pair<std::string, std::string>> all;  // name, bytes
  for (const auto& entry : std::filesystem::directory_iterator(files / "")) {
    all.emplace_back(entry.path().filename().string(), hesscope::test::read_bytes(entry.path()));
  }
  std::ranges::sort(all);
  return all;
}

std::size_t below(std::mt19937_64& random, std::size_t bound) { return random() % bound; }

/// One to eight bits, bytes, numbers and spans changed; at times the end cut off.
std::string mutant(std::string bytes, std::mt19937_64& random) {
  const std::size_t num_changes = 1 + below(random, 8);
  for (std::size_t i = 0; i < num_changes; ++i) {
    const std::size_t at = below(random, bytes.size());
    const std::size_t length = std::min(1 + below(random, 16), bytes.size() - at);
    switch (below(random, 6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(below(random, 256));
        break;
      case 2:  // small and large numbers
        bytes.replace(at, length, length, below(random, 2) != 0 ? '\xff' : '\0');
        break;
      case 3:
        bytes[at] = static_cast<char>(bytes[at] + (below(random, 2) != 0 ? 1 : -1));
        break;
      case 4: {  // one place's bytes at another one
        const std::size_t from = below(random, bytes.size() - length + 1);
        bytes.replace(at, length, bytes.substr(from, length));
        break;
      }
      default:
        if (below(random, 4) == 0) bytes.resize(std::max<std::size_t>(at, 16));
    }
  }
  return bytes;
}

TEST(Hdf5Damage, LetsNoMutantEndOrDelayTheProgram) {
  const std::size_t count = number_wanted("HESSCOPE_HDF5_MUTANTS", 300);
  const auto files = small_files();
  ASSERT_EQ(files.size(), 10);
  Outcomes outcomes(read_checkpoint);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [name, bytes] = files[i % files.size()];
    std::mt19937_64 random(i);
    outcomes.try_bytes(mutant(bytes, random), fmt::format("mutant {} of {}", i, name));
  }
  EXPECT_EQ(outcomes.num_tried(), count);
  EXPECT_TRUE(outcomes.has("read")) << "nothing of what was damaged matters";
  EXPECT_TRUE(outcomes.has("refused"));
  fmt::print("{}", outcomes.summary());
}

TEST(Hdf5Damage, LetsNoMutantOfAResultEndOrDelayTheProgram) {
  const std::size_t count = number_wanted("HESSCOPE_HDF5_MUTANTS", 300);
  const std::string bytes = small_result();
  Outcomes outcomes(read_result);
  for (std::size_t i = 0; i < count; ++i) {
    std::mt19937_64 random(i);
    outcomes.try_bytes(mutant(bytes, random), fmt::format("mutant {} of a result", i));
  }
  EXPECT_EQ(outcomes.num_tried(), count);
  EXPECT_TRUE(outcomes.has("read")) << "nothing of what was damaged matters";
  EXPECT_TRUE(outcomes.has("refused"));
  fmt::print("{}", outcomes.summary());
}

TEST(Hdf5Damage, LetsNoFlippedBitAndNoPrefixEndTheProgram) {
  Outcomes outcomes(read_checkpoint);
  const auto files = small_files();
  const std::size_t only = number_wanted("HESSCOPE_HDF5_FILE", files.size());
  for (std::size_t k = 0; k < files.size(); ++k) {
    if (only != files.size() && only != k) continue;
    const auto& [name, bytes] = files[k];
    const std::size_t step = number_wanted("HESSCOPE_HDF5_FLIPS", bytes.size() / 3);  // 24 bits
    for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += step) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      outcomes.try_bytes(damaged, fmt::format("bit {} of {}", bit, name));
    }
    for (std::size_t size = 9; size < bytes.size(); size += step) {
      outcomes.try_bytes(bytes.substr(0, size), fmt::format("{} bytes of {}", size, name));
    }
  }
  EXPECT_TRUE(outcomes.has("refused"));
  fmt::print("{}", outcomes.summary());
}

}  // namespace
